// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { explain } from '../../../pipeline/access/explain.ts'
import { access, html, key, rawGroup, site, user } from './site.ts'

describe('explaining a decision', () => {
  const document = html('<li></li><p></p>')
  const rules = site([
    ['*', 'PUT', 'Deny', '/a*'],
    ['users', '*', 'Allow', '/a', 'li'],
    ['eve', 'PUT', 'Allow', '/a'],
    ['*', 'GET', 'Deny', '/a'],
  ])
  it('SEC-5 names the matching rules, the strongest first, and the outcome', () => {
    const mine = access(rules, { principal: user('ann') })
    expect(explain(mine, 'PUT', '/a', key(document, 'li'))).to.deep.equal({
      method: 'PUT',
      path: '/a',
      decision: 'allow',
      permitted: true,
      rules: [
        {
          document: '/rules.html',
          order: 1,
          action: 'Allow',
          actors: ['users'],
          tier: 1,
          resources: ['/a'],
          methods: ['GET', 'HEAD', 'PUT', 'DELETE', 'POST'],
          selector: 'li',
          applies: true,
          decides: true,
          why: 'everybody who is signed in',
        },
        {
          document: '/rules.html',
          order: 0,
          action: 'Deny',
          actors: ['*'],
          tier: 0,
          resources: ['/a*'],
          methods: ['PUT'],
          applies: true,
          decides: false,
          why: 'everybody',
        },
      ],
    })
  })
  it('SEC-5 says which rules do not apply to the element, after those that decide', () => {
    const mine = access(rules, { principal: user('ann') })
    const explanation = explain(mine, 'PUT', '/a', key(document, 'p'))
    expect(explanation.rules.map(({ applies, decides, tier }) => [applies, decides, tier])).to.deep.equal([
      [true, true, 0],
      [false, false, 1],
    ])
    expect(explanation.permitted).to.equal(false)
  })
  it('SEC-5 default-GET is told apart from a rule', () => {
    const { decision, permitted, rules: matching } = explain(access(site([])), 'GET', '/x')
    expect({ decision, permitted, matching }).to.deep.equal({ decision: 'unmatched', permitted: true, matching: [] })
  })
  it('SEC-5 names the actors', () => {
    const actors = ['*', 'users', 'authenticated', ':username', 'ann', 'role:x', 'team-${request.headers.x}']
    const one = site([[actors.join('|'), 'PUT', 'Allow', '/a']])
    const [rule] = explain(access(one, { principal: user('ann') }), 'PUT', '/a').rules
    expect(rule?.actors).to.deep.equal(actors.map(actor => (actor === 'authenticated' ? 'users' : actor)))
  })

  describe('SEC-5 says by what a rule matches', () => {
    const ann = user('ann', { email: 'ann@t.example', emailVerified: true, roles: ['writers'] })
    const groups = [rawGroup('editors', 'ann@t.example')]
    const cases: [actor: string, why: string][] = [
      ['*', 'everybody'],
      ['users', 'everybody who is signed in'],
      [':username', 'everybody who is signed in'],
      ['ann', 'the user name ann'],
      ['${request.auth.sub}', 'the user name ann'],
      ['ann@t.example', 'the verified email ann@t.example'],
      ['writers', 'the role writers'],
      ['role:writers', 'the role writers'],
      ['editors', 'a member of the group editors in /rules.html'],
      ['role:editors', 'a member of the group editors in /rules.html'],
      ['*|nobody|editors', 'a member of the group editors in /rules.html'],
      ['writers|ann', 'the user name ann'],
    ]
    for (const [actor, why] of cases) {
      it(actor, () => {
        const rules = site([[actor, 'PUT', 'Allow', '/a']], groups)
        expect(explain(access(rules, { principal: ann }), 'PUT', '/a').rules.map(rule => rule.why)).to.deep.equal([why])
      })
    }

    it('a Deny for a group that decides by itself and was not asked', () => {
      const subtyped = { ...rawGroup('circle'), subtypes: ['https://t.example/Domain'] }
      const rules = site([['circle', 'PUT', 'Deny', '/a']], [subtyped])
      const oracle = { overrides: () => true, includes: async () => true }
      const [rule] = explain(access(rules, { principal: ann, oracle }), 'PUT', '/a').rules
      expect(rule?.why).to.equal('the group circle, which was not asked')
    })
  })

  it('SEC-5 only rules of the highest tier that apply decide', () => {
    const mine = access(rules, { principal: user('eve') })
    const decides = (selector: string) =>
      explain(mine, 'PUT', '/a', key(document, selector)).rules.map(rule => [rule.tier, rule.decides])
    expect(decides('li')).to.deep.equal([
      [3, true],
      [1, false],
      [0, false],
    ])
  })
})
