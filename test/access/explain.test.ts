// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { explain } from '../../pipeline/access/explain.ts'
import { access, html, key, site, user } from './site.ts'

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
        },
      ],
    })
  })
  it('SEC-5 says which rules do not apply to the element', () => {
    const mine = access(rules, { principal: user('ann') })
    const explanation = explain(mine, 'PUT', '/a', key(document, 'p'))
    expect(explanation.rules.map(rule => rule.applies)).to.deep.equal([false, true])
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
})
