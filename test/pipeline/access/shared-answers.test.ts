// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { rulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import { takesLess } from '../../support/cost.ts'
import { stepsOf } from '../../support/steps.ts'
import { access, html, keys, type Line, site, user } from './site.ts'

describe('several elements at once', () => {
  const document = html(`<ul>${'<li class="a"></li>'.repeat(50)}<li class="b"></li></ul>`)
  it('ALL-1 every element by itself, few or many', () => {
    const mine = access(site([['*', 'GET', 'Deny', '/a', '.b']]))
    expect(mine.permitEvery('GET', '/a', keys(document, '.a'))).to.equal(true)
    expect(mine.permitEvery('GET', '/a', keys(document, 'li'))).to.equal(false)
    expect(mine.permitEvery('GET', '/a', keys(document, '.b'))).to.equal(false)
    expect(mine.permitEvery('GET', '/a', [])).to.equal(true)
  })
  it('ALL-1 default-GET per element', () => {
    const mine = access(site([['*', 'GET', 'Allow', '/a', '.a']]), { defaultGet: 'deny' })
    expect(mine.permitEvery('GET', '/a', keys(document, '.a'))).to.equal(true)
    expect(mine.permitEvery('GET', '/a', keys(document, 'li'))).to.equal(false)
  })
  it('ALL-1 takes linear time', () => {
    const long = html(`<ul>${'<li></li>'.repeat(10_000)}</ul>`)
    const mine = access(site([['*', 'GET', 'Deny', '/a', 'li:nth-last-child(20000)']]))
    const all = keys(long, 'li')
    return takesLess(200, () => expect(mine.permitEvery('GET', '/a', all)).to.equal(true))
  })
  it('ALL-1 HTTP-181 many elements are decided in steps, which can be left often', () => {
    const long = html(`<ul>${'<li></li>'.repeat(10_000)}</ul>`)
    const all = keys(long, 'li')
    const rules = site([['*', 'GET', 'Deny', '/a', 'li:nth-last-child(20000)']])
    const facts = { method: 'GET', path: '/a', headers: () => undefined, queryString: '' }
    const hosted = { rules, settings: { defaultGet: 'allow' } } as unknown as Site
    const authority = rulesAuthority(hosted, { facts, principal: user('u') })()
    const works = {
      admitting: () => authority.admitting({ ask: 'read-elements', path: '/a', exists: true, keys: all }),
      sharing: () => authority.sharing('/a', all),
    }
    for (const [name, work] of Object.entries(works)) expect(stepsOf(work()), name).to.be.at.least(all.length / 500)
  })
  it('SEC-12 ALL-1 elements under many rules are decided in as many more steps', () => {
    const short = html(`<ul>${'<li></li>'.repeat(100)}</ul>`)
    const rulesOf = (action: string, selector: (i: number) => string) =>
      site(Array.from({ length: 2000 }, (_, i): Line => ['*', 'GET', action, '/a', selector(i)]))
    const facts = { method: 'GET', path: '/a', headers: () => undefined, queryString: '' }
    const rules = rulesOf('Allow', i => `.c${i}`)
    const hosted = { rules, settings: { defaultGet: 'deny' } } as unknown as Site
    const authority = rulesAuthority(hosted, { facts, principal: user('u') })()
    expect(stepsOf(authority.viewing('/a', short))).to.be.at.least((100 * 2000) / 5000 - 1)
    const mine = access(rulesOf('Deny', i => `:not(.c${i}, *)`))
    expect(stepsOf(mine.permittingEvery('GET', '/a', keys(short, 'li')))).to.be.at.least(30)
  })
})

describe('what is worth asking', () => {
  const dependence: [name: string, lines: Line[], method: string, depends: boolean][] = [
    ['no rules', [], 'GET', false],
    ['resource-level rules', [['*', 'GET', 'Deny', '/a']], 'GET', false],
    ['an Allow where all is allowed', [['*', 'GET', 'Allow', '/a', 'li']], 'GET', false],
    ['a Deny where all is allowed', [['*', 'GET', 'Deny', '/a', 'li']], 'GET', true],
    ['a Deny where all is denied', [['*', 'PUT', 'Deny', '/a', 'li']], 'PUT', false],
    ['an Allow where all is denied', [['*', 'PUT', 'Allow', '/a', 'li']], 'PUT', true],
    [
      'a Deny beside an Allow of its tier',
      [
        ['*', 'PUT', 'Allow', '/a'],
        ['*', 'PUT', 'Deny', '/a', 'li'],
      ],
      'PUT',
      true,
    ],
    ['another method', [['*', 'PUT', 'Deny', '/a', 'li']], 'GET', false],
    ['another path', [['*', 'GET', 'Deny', '/b', 'li']], 'GET', false],
    ['another actor', [['users', 'GET', 'Deny', '/a', 'li']], 'GET', false],
    [
      'an Allow below a Deny of its tier',
      [
        ['*', 'PUT', 'Deny', '/a'],
        ['*', 'PUT', 'Allow', '/a', 'li'],
      ],
      'PUT',
      false,
    ],
  ]
  for (const [name, lines, method, depends] of dependence) {
    it(`selector dependence: ${name}`, () => {
      expect(access(site(lines)).selectorDependence(method, '/a')).to.equal(depends)
    })
  }
  it('selector dependence: tiers', () => {
    const rules = site([
      ['users', 'PUT', 'Allow', '/a'],
      ['*', 'PUT', 'Deny', '/a', 'li'],
    ])
    expect(access(rules, { principal: user('u') }).selectorDependence('PUT', '/a')).to.equal(false)
  })

  const requests: [name: string, lines: Line[], depends: boolean][] = [
    ['no rules', [], false],
    ['everybody', [['*', 'GET', 'Allow', '/a']], false],
    ['everybody, by element', [['*', 'GET', 'Deny', '/a', 'li']], false],
    ['somebody', [['users', 'GET', 'Allow', '/a']], true],
    ['everybody and somebody', [['*|ann', 'GET', 'Allow', '/a']], true],
    ['somebody elsewhere', [['users', 'GET', 'Allow', '/b']], false],
    ['somebody, another method', [['users', 'PUT', 'Allow', '/a']], false],
    ['a lookup in the path that can match', [['*', 'GET', 'Deny', '/${request.query.x}']], true],
    ['a lookup in the path that cannot', [['*', 'GET', 'Deny', '/u/${request.query.x}']], false],
    ['a lookup in the selector', [['*', 'GET', 'Deny', '/a', '#${request.query.x}']], true],
    ['a lookup in the actor', [['${request.query.x}', 'GET', 'Deny', '/a']], true],
  ]
  for (const [name, lines, depends] of requests) {
    it(`dependence on the request: ${name}`, () => {
      expect(access(site(lines)).dependsOnRequest('GET', '/a')).to.equal(depends)
    })
  }
  it('PRIV-1 dependence of anonymous requests: rules for everybody that look something up', () => {
    const facts = (...line: Line) => access(site([line])).dependsOnFacts('GET', '/a')
    expect(facts('*', 'GET', 'Deny', '/${request.headers.x}')).to.equal(true)
    expect(facts('*', 'GET', 'Allow', '/a', '#${request.query.id}')).to.equal(true)
    expect(facts('users', 'GET', 'Allow', '/${request.auth.username}')).to.equal(false)
    expect(facts('*', 'PUT', 'Allow', '/${request.headers.x}')).to.equal(false)
    expect(facts('*', 'GET', 'Allow', '/b/${request.headers.x}')).to.equal(false)
    expect(facts('users', 'GET', 'Allow', '/a')).to.equal(false)
  })
  it('PRIV-1 what an anonymous request may', () => {
    const rules = site([
      ['*', 'GET', 'Deny', '/team/*'],
      ['users', 'GET', 'Allow', '/team/*'],
    ])
    const mine = access(rules, { principal: user('u') })
    expect([mine.permit('GET', '/team/s.css'), mine.permitAnonymous('GET', '/team/s.css')]).to.deep.equal([true, false])
    expect([mine.permit('GET', '/s.css'), mine.permitAnonymous('GET', '/s.css')]).to.deep.equal([true, true])
    expect(access(rules).permitAnonymous('GET', '/team/s.css')).to.equal(false)
  })
})
