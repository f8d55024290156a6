// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { AccessRules } from '../../pipeline/access/access-rules.ts'
import type { Decision } from '../../pipeline/access/matching.ts'
import { principalFromClaims, refusalStatus } from '../../pipeline/access/principal.ts'
import { takesLess } from '../support/cost.ts'
import { access, html, key, keys, type Line, member, NS, rawGroup, rawRule, site, siteOf, user } from './site.ts'

const seed = process.env.FUZZ ? {} : { seed: 22 }

describe('principals', () => {
  it('ACT-1 a principal is read from its claims', () => {
    const claims = { sub: 'u', email: 'a@x', email_verified: true, name: 'A', extra: [1] }
    const expected = { sub: 'u', email: 'a@x', emailVerified: true, name: 'A', roles: ['r'], claims }
    expect(principalFromClaims(claims, ['r'])).to.deep.equal(expected)
    expect(principalFromClaims({ email: 'a@x' }, [])).to.equal(undefined)
    expect(principalFromClaims({ sub: '' }, [])).to.equal(undefined)
  })
  it('ACT-2 verified is the boolean true or the text true', () => {
    const verified = [true, 'true', false, 'false', 1, 'TRUE', null, undefined, {}].map(
      email_verified => principalFromClaims({ sub: 'u', email_verified }, [])?.emailVerified,
    )
    expect(verified).to.deep.equal([true, true, ...Array(7).fill(false)])
  })
  it('DENY-1 401 for an anonymous requester, 403 for a signed-in one', () => {
    expect([refusalStatus(undefined), refusalStatus(user('u'))]).to.deep.equal([401, 403])
  })
})

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
