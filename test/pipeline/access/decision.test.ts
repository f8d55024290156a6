// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import type { Decision } from '../../../pipeline/access/matching.ts'
import { access, html, key, type Line, member, NS, rawGroup, rawRule, site, siteOf, user } from './site.ts'

const seed = process.env.FUZZ ? {} : { seed: 22 }

describe('selector rules', () => {
  const document = html('<ul id="list"><li class="a"><span>x</span></li><li class="b">y</li></ul><li class="a">z</li>')
  const at = (lines: Line[], selector: string | undefined, method = 'PUT'): Decision =>
    access(site(lines)).decide(method, '/a', selector === undefined ? undefined : key(document, selector))

  it('KEY-1 the key is among the selected; being inside one is not enough', () => {
    expect(at([['*', 'PUT', 'Allow', '/a', '#list li']], '#list .b')).to.equal('allow')
    expect(at([['*', 'PUT', 'Allow', '/a', '#list li']], 'span')).to.equal('unmatched')
    expect(at([['*', 'PUT', 'Allow', '/a', '#list li']], 'body > .a')).to.equal('unmatched')
    expect(at([['*', 'PUT', 'Allow', '/a', 'span, .b']], '.b')).to.equal('allow')
  })
  it('KEY-3 without a key a selector rule never matches', () => {
    expect(at([['*', 'PUT', 'Allow', '/a', 'html']], undefined)).to.equal('unmatched')
    const denied = access(site([['*', 'GET', 'Deny', '/a', '*']]))
    expect(denied.permit('GET', '/a')).to.equal(true)
    expect(denied.permit('GET', '/a', key(document, 'li'))).to.equal(false)
  })
  it('KEY-4 a resource-level rule governs elements too', () => {
    expect(at([['*', 'PUT', 'Allow', '/a']], 'li')).to.equal('allow')
    expect(at([['*', 'GET', 'Deny', '/a']], 'li', 'GET')).to.equal('deny')
  })
  it('KEY-7 * in a selector rule stands for five methods', () => {
    const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'QUERY']
    const covered = methods.filter(m => at([['*', '*', 'Deny', '/a', 'li']], 'li', m) === 'deny')
    expect(covered).to.deep.equal(['GET', 'HEAD', 'PUT', 'POST', 'DELETE'])
  })
  it('DEC-2 a resource-level Deny beats a selector Allow of its tier', () => {
    const lines: Line[] = [
      ['*', 'PUT', 'Deny', '/a'],
      ['*', 'PUT', 'Allow', '/a', 'li'],
    ]
    expect(at(lines, 'li')).to.equal('deny')
  })
  it('DEC-2 a selector Deny beats a resource-level Allow of its tier where it applies', () => {
    const lines: Line[] = [
      ['*', 'PUT', 'Allow', '/a'],
      ['*', 'PUT', 'Deny', '/a', '.b'],
    ]
    expect([at(lines, '.b'), at(lines, '.a'), at(lines, undefined)]).to.deep.equal(['deny', 'allow', 'allow'])
  })
  it('DEC-2 a higher tier beats both kinds below it', () => {
    const principal = user('ann')
    const mine = access(
      site([
        ['*', 'PUT', 'Deny', '/a'],
        ['users', 'PUT', 'Deny', '/a', 'li'],
        ['ann', 'PUT', 'Allow', '/a', '.b'],
      ]),
      { principal },
    )
    const answers = ['.b', '#list .a', 'span'].map(s => mine.decide('PUT', '/a', key(document, s)))
    expect(answers).to.deep.equal(['allow', 'deny', 'deny'])
  })
})

describe('the decision', () => {
  it('DEC-1 tiers, by the worked example', () => {
    const groups = [rawGroup('editors', 'e@x', 'both@x'), rawGroup('suspended', 's@x', 'both@x')]
    const rules = site(
      [
        ['editors', 'PUT', 'Allow', '/doc.html'],
        ['suspended', 'PUT', 'Deny', '/doc.html'],
        ['u-7', 'PUT', 'Allow', '/doc.html'],
        ['*', 'PUT', 'Deny', '/doc.html'],
      ],
      groups,
    )
    const decide = (principal?: ReturnType<typeof user>) =>
      access(rules, principal ? { principal } : {}).decide('PUT', '/doc.html')
    expect(decide(member('e@x'))).to.equal('allow')
    expect(decide(member('both@x'))).to.equal('deny')
    expect(decide(member('s@x', { sub: 'u-7' }))).to.equal('allow')
    expect(decide(user('z'))).to.equal('deny')
    expect(decide()).to.equal('deny')
  })
  it('DEC-3 property: order, documents and splitting do not matter', () => {
    const line = fc.tuple(
      fc.constantFrom('*', 'users', 'ann', 'editor', ':username'),
      fc.constantFrom('GET', 'PUT', '*'),
      fc.constantFrom('Allow', 'Deny'),
      fc.constantFrom('/*', '/a', '/b|/a', '/c/*'),
      fc.constantFrom(undefined, 'li', 'ul'),
    )
    const document = html('<ul><li></li></ul>')
    const principal = user('ann', { roles: ['editor'] })
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.nat(3)), { maxLength: 6 }), fc.nat(), (placed, shift) => {
        const together = site(placed.map(([l]) => l as unknown as Line))
        const moved = placed.map((_, i) => placed[(i + shift) % placed.length]).reverse()
        let apart = AccessRules.empty(NS)
        for (let d = 0; d <= 3; d++) {
          const rules = moved.flatMap(entry => (entry && entry[1] === d ? [rawRule(entry[0] as unknown as Line)] : []))
          apart = apart.withDocument(`/d${d}.html`, { ns: NS, rules, groups: [] })
        }
        for (const method of ['GET', 'PUT']) {
          for (const k of [undefined, key(document, 'li')]) {
            const [a, b] = [together, apart].map(rules => access(rules, { principal }).decide(method, '/a', k))
            expect(a).to.equal(b)
          }
        }
      }),
      { numRuns: 500, ...seed },
    )
  })
  it('DEC-4 default-GET answers only unmatched GET and HEAD', () => {
    for (const defaultGet of ['allow', 'deny'] as const) {
      const mine = access(AccessRules.empty(NS), { defaultGet })
      expect(mine.permit('GET', '/a')).to.equal(defaultGet === 'allow')
      expect(mine.permit('HEAD', '/a')).to.equal(defaultGet === 'allow')
      expect(mine.permit('GET', '/a', undefined, { subscribe: true })).to.equal(false)
      for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'QUERY']) {
        expect(mine.permit(method, '/a'), method).to.equal(false)
      }
    }
  })
  it('DEC-4 it never overrides a rule', () => {
    expect(access(site([['*', 'GET', 'Deny', '/a']])).permit('GET', '/a')).to.equal(false)
    expect(access(site([['*', 'GET', 'Allow', '/a']]), { defaultGet: 'deny' }).permit('GET', '/a')).to.equal(true)
    const granted = access(site([['*', 'GET', 'Allow', '/a']]))
    expect(granted.permit('GET', '/a', undefined, { subscribe: true })).to.equal(true)
  })
  it('DEC-8 session content needs no rule from whoever may read the resource or the target', () => {
    const document = html('<p id="t"></p><p id="u"></p>')
    const session = { session: true }
    const t = key(document, '#t')
    expect(access(site([])).permit('PUT', '/a', t, session)).to.equal(true)
    expect(access(site([]), { defaultGet: 'deny' }).permit('PUT', '/a', t, session)).to.equal(false)
    const hidden = access(site([['*', 'GET', 'Allow', '/a', '#t']]), { defaultGet: 'deny' })
    expect(hidden.permit('PUT', '/a', t, session)).to.equal(true)
    expect(hidden.permit('PUT', '/a', key(document, '#u'), session)).to.equal(false)
    expect(access(site([['*', 'PUT', 'Deny', '/a', '#t']])).permit('PUT', '/a', t, session)).to.equal(false)
    expect(access(site([['*', 'PUT', 'Deny', '/*']])).permit('PUT', '/a', t, session)).to.equal(false)
  })
})

describe('worked examples', () => {
  it('Members only', () => {
    const rules = site([
      ['*', 'GET', 'Deny', '/team/*'],
      ['users', 'GET', 'Allow', '/team/*'],
    ])
    for (const path of ['/team/', '/team', '/team/a.css']) {
      expect(access(rules).permit('GET', path), path).to.equal(false)
      expect(access(rules, { principal: user('u') }).permit('GET', path), path).to.equal(true)
    }
  })
  it('Own area', () => {
    const rules = site([['users', 'PUT', 'Allow', '/users/${request.auth.username}/*']])
    const mine = access(rules, { principal: user('a*') })
    expect(mine.permit('PUT', '/users/a*/x.html')).to.equal(true)
    expect(mine.permit('PUT', '/users/ab/x.html')).to.equal(false)
    expect(access(rules).permit('PUT', '/users//x.html')).to.equal(false)
  })
  it('A public list in a readable page, from its markup', () => {
    const document = html('<ul id="todo"><li>Milk</li></ul>')
    const rules = siteOf(
      `<div hidden itemscope itemtype="${NS}/AuthorizationRule">
        <meta itemprop="actor" content="*"><meta itemprop="resource" content="/index.html">
        <meta itemprop="method" content="PUT"><meta itemprop="method" content="DELETE">
        <meta itemprop="selector" content="#todo li"><meta itemprop="action" content="allow">
      </div>`,
    )
    const mine = access(rules)
    expect(mine.permit('PUT', '/', key(document, '#todo > li:nth-child(1)'))).to.equal(true)
    expect(mine.permit('PUT', '/', key(document, '#todo'))).to.equal(false)
    expect(mine.permit('PUT', '/index.html')).to.equal(false)
  })
})
