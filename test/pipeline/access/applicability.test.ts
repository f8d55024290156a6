// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { access, html, key, type Line, member, rawGroup, site, user } from './site.ts'

describe('actors', () => {
  const ann = member('ann@x.test', {
    sub: 'ann',
    name: 'Ann',
    roles: ['editor'],
    claims: { preferred_username: 'annie' },
  })
  const groups = [rawGroup('staff', 'ann@x.test'), rawGroup('other', 'bob@x.test')]
  const tiers: [rule: string, actor: string, tier: number | undefined][] = [
    ['ACT-3', 'ann', 3],
    ['ACT-3', 'ANN', undefined],
    ['ACT-3', ':username', 2],
    ['ACT-3', '${username}', 2],
    ['ACT-3', '${request.auth.username}', 2],
    ['ACT-3', 'ann@x.test', 1],
    ['ACT-3', 'Ann@x.test', undefined],
    ['ACT-3', 'staff', 1],
    ['ACT-3', 'other', undefined],
    ['ACT-3', 'editor', 1],
    ['ACT-3', 'role:editor', 1],
    ['ACT-3', 'role:staff', 1],
    ['ACT-3', 'role:ann', undefined],
    ['ACT-3', 'role:ann@x.test', undefined],
    ['ACT-3', 'role:', undefined],
    ['ACT-3', 'users', 1],
    ['ACT-3', 'authenticated', 1],
    ['ACT-3', 'role:users', 1],
    ['ACT-3', '*', 0],
    ['ACT-3 the highest of several', '*|staff|ann', 3],
    ['ACT-3 several are OR-ed', 'other|nobody|editor', 1],
    ['ACT-4 a display name', 'Ann', undefined],
    ['ACT-4 a preferred user name', 'annie', undefined],
  ]
  for (const [rule, actor, tier] of tiers) {
    it(`${rule}: ${actor}`, () => {
      const mine = access(site([[actor, 'PUT', 'Allow', '/a']], groups), { principal: ann })
      expect(mine.matching('PUT', '/a')[0]?.tier).to.equal(tier)
    })
  }
  it('ACT-2 an anonymous requester has no token at all', () => {
    const actors = tiers.map(([, actor]) => actor).filter(actor => !actor.includes('*'))
    const mine = access(site([[actors.join('|'), 'PUT', 'Allow', '/a']], groups))
    expect(mine.decide('PUT', '/a')).to.equal('unmatched')
  })
  it('ACT-4 an unverified email matches nothing, an absent one neither', () => {
    const unverified = { ...ann, sub: 'x', emailVerified: false }
    const rules = site([['ann@x.test|staff', 'PUT', 'Allow', '/a']], groups)
    expect(access(rules, { principal: unverified }).decide('PUT', '/a')).to.equal('unmatched')
    expect(access(rules, { principal: user('x', { emailVerified: true }) }).decide('PUT', '/a')).to.equal('unmatched')
  })
  it('ACT-5 reserved words are no user names', () => {
    for (const sub of ['users', 'authenticated', ':username', 'role:x', '*', '${username}']) {
      const mine = access(site([[sub, 'PUT', 'Allow', '/a']]), { principal: user(sub) })
      expect(mine.matching('PUT', '/a')[0]?.tier, sub).to.not.equal(3)
    }
  })
  it('ACT-6 a group named like a built-in one changes nothing', () => {
    const rules = site([['users', 'PUT', 'Allow', '/a']], [rawGroup('users', 'bob@x.test')])
    expect(access(rules, { principal: ann }).decide('PUT', '/a')).to.equal('allow')
    expect(access(rules).decide('PUT', '/a')).to.equal('unmatched')
    const looked = site([['${request.headers.x}', 'PUT', 'Allow', '/a']], [rawGroup('users', 'ann@x.test')])
    expect(access(looked, { principal: ann, headers: { x: 'users' } }).decide('PUT', '/a')).to.equal('unmatched')
  })
})

describe('places of who has signed in', () => {
  const composed = 'Jos\u00e9'
  const lookups = ['request.auth.sub', 'username', 'request.auth.name', 'auth.claims.nick']
  const decide = (action: 'Allow' | 'Deny', lookup: string, name: string, path: string) =>
    access(site([['users', 'GET', action, `/u/\${${lookup}}/*`]]), {
      principal: user(name, { name, claims: { nick: name } }),
    }).decide('GET', path)
  for (const [name, other] of [
    ['Jose\u0301', composed],
    ['\u212aarl', 'Karl'],
    ['\u212b', '\u00c5'],
  ] as const)
    it(`ACT-3 LOOK-5 ${other} has no place that ${JSON.stringify(name)} may enter`, () => {
      for (const lookup of lookups) {
        expect(decide('Allow', lookup, other, `/u/${other}/a`), lookup).to.equal('allow')
        expect(decide('Allow', lookup, name, `/u/${other}/a`), lookup).to.equal('unmatched')
        expect(decide('Deny', lookup, name, `/u/${other}/a`), lookup).to.equal('deny')
      }
    })
  it('PATH-1 what a visitor sends is the same name in any form, as in a path', () => {
    const rules = site([['*', 'GET', 'Allow', '/u/${request.headers.x}/*']])
    expect(access(rules, { headers: { x: 'Jose\u0301' } }).decide('GET', `/u/${composed}/a`)).to.equal('allow')
  })
})

describe('methods', () => {
  it('METH-1 without regard to case, and * is every method', () => {
    const mine = access(site([['*', 'put', 'Allow', '/a']]))
    expect(mine.decide('PUT', '/a')).to.equal('allow')
    const all = access(site([['*', '*', 'Deny', '/a']]))
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'QUERY']) {
      expect(all.decide(method, '/a'), method).to.equal('deny')
    }
  })
  it('METH-2 HEAD is decided by rules for HEAD or GET, GET not by rules for HEAD', () => {
    const get = access(site([['*', 'GET', 'Deny', '/a']]))
    expect([get.decide('HEAD', '/a'), get.decide('GET', '/a')]).to.deep.equal(['deny', 'deny'])
    const head = access(site([['*', 'HEAD', 'Deny', '/a']]))
    expect([head.decide('HEAD', '/a'), head.decide('GET', '/a')]).to.deep.equal(['deny', 'unmatched'])
  })
})

describe('composed pages and routes', () => {
  // What an include brings is an element of the page that shows it.
  const source = html('<ul id="items"><li>1</li></ul>')
  const composed = html('<main id="page"><ul id="items"><li>1</li></ul></main>')

  it('KEY-2 elements are matched in the tree where they were found, whatever document they come from', () => {
    const mine = access(site([['*', 'PUT', 'Allow', '/page.html', '#page li']]))
    expect(mine.permit('PUT', '/page.html', key(composed, 'li'))).to.equal(true)
    expect(mine.permit('PUT', '/page.html', key(source, 'li'))).to.equal(false)
  })
  it('KEY-2 rules of the source are not asked for the page, nor those of the page for the source', () => {
    const lines: Line[] = [
      ['*', 'PUT', 'Allow', '/page.html', 'li'],
      ['*', 'PUT', 'Deny', '/source.html', 'li'],
    ]
    expect(access(site(lines)).permit('PUT', '/page.html', key(composed, 'li'))).to.equal(true)
    expect(access(site(lines)).permit('PUT', '/source.html', key(source, 'li'))).to.equal(false)
    const onlyPage = access(site(lines.slice(0, 1)))
    expect(onlyPage.permit('PUT', '/source.html', key(source, 'li'))).to.equal(false)
  })
  it('PATH-5 on a route the path is the one that was asked for, not that of the template', () => {
    const lines: Line[] = [
      ['*', 'GET', 'Deny', '/items/7'],
      ['*', 'GET', 'Deny', '/posts/:id.html'],
    ]
    const mine = access(site(lines))
    for (const [path, permitted] of [
      ['/items/7', false],
      ['/items/8', true],
      ['/posts/8', true],
      ['/posts/:id.html', false],
    ] as const)
      expect(mine.permit('GET', path), path).to.equal(permitted)
    const own = access(site([['users', 'PUT', 'Allow', `/items/\${request.path}`]]), {
      principal: user('u'),
      path: 'x',
    })
    expect(own.permit('PUT', '/items/x')).to.equal(true)
  })
})
