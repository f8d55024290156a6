// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import type { RawRule } from '../../../pipeline/access/extract.ts'
import { compilingAccess } from '../../../pipeline/access/rules.ts'
import type { ExtensionContext } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { access, html, key, NS, rawGroup, site, siteOf, user } from './site.ts'

const BASE: RawRule = { position: 7, actor: ['*'], resource: ['/a'], method: ['PUT'], selector: [], action: ['Allow'] }

function compile(change: Partial<RawRule>) {
  const { rules, findings } = atOnce(
    compilingAccess('/r.html', { ns: NS, rules: [{ ...BASE, ...change }], groups: [] }),
  )
  return { rule: rules[0], findings }
}

describe('fields of a rule', () => {
  const actions: [values: string[], result: boolean | undefined][] = [
    [['Allow'], true],
    [['Deny'], false],
    [['allow'], true],
    [['DENY'], false],
    [['aLLow', 'deny'], false],
    [['nonsense', 'Deny'], false],
    [['Allow', 'Allow'], true],
    [['nonsense'], undefined],
    [['Allow', 'nonsense'], undefined],
    [['Allowed'], undefined],
    [[], undefined],
  ]
  for (const [action, result] of actions) {
    it(`RULE-7 action ${action.join(' and ') || 'missing'}`, () => {
      const { rule, findings } = compile({ action })
      expect(rule?.allow).to.equal(result)
      expect(findings.length).to.equal(result === undefined ? 1 : 0)
    })
  }
  for (const field of ['actor', 'resource', 'method', 'action'] as const) {
    it(`RULE-7 without ${field} it is no rule, even as a Deny`, () => {
      const { rule, findings } = compile({ action: ['Deny'], [field]: [] })
      expect(rule).to.equal(undefined)
      expect(findings).to.deep.equal([
        { document: '/r.html', order: 0, position: 7, reason: `A rule without ${field} is ignored.` },
      ])
    })
  }
  it('ACT-3 its actors may be ever so many', () => {
    const { rule } = compile({ actor: [...new Array<string>(130_000).fill('{ns}'), 'u'] })
    expect(rule?.strongest).to.equal(3)
  })
  it('RULE-7 several selectors are one list', () => {
    const document = html('<a></a><b></b><i></i>')
    const rules = site([])
    const raw = { ns: NS, rules: [{ ...BASE, selector: ['a', 'b'] }], groups: [] }
    const mine = access(rules.withDocument('/r.html', raw))
    expect(['a', 'b', 'i'].map(name => mine.decide('PUT', '/a', key(document, name)))).to.deep.equal([
      'allow',
      'allow',
      'unmatched',
    ])
  })
  it('RULE-8 without a selector, or with an empty one, a rule is resource-level', () => {
    expect(compile({}).rule?.selector).to.equal(undefined)
    const empty = siteOf(
      `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*">` +
        '<meta itemprop="resource" content="/a"><meta itemprop="method" content="PUT">' +
        '<b itemprop="selector"> \n </b><meta itemprop="action" content="Allow"></div>',
    )
    expect(access(empty).decide('PUT', '/a')).to.equal('allow')
  })
  it('RULE-5 a list of methods in one value is one useless method', () => {
    const mine = access(site([['*', 'GET, PUT', 'Allow', '/a']]))
    expect(mine.decide('PUT', '/a')).to.equal('unmatched')
  })
})

describe('MOVE in a rule with a selector', () => {
  const document = html('<li></li>')
  it('RULE-9 an Allow is discarded whole', () => {
    const { rule, findings } = compile({ method: ['PUT', 'move'], selector: ['li'] })
    expect(rule).to.equal(undefined)
    expect(findings).to.have.length(1)
  })
  it('RULE-9 a Deny loses its selector and keeps its methods', () => {
    const mine = access(site([['*', 'GET|Move', 'Deny', '/a', 'li']]))
    expect(mine.decide('GET', '/a')).to.equal('deny')
    expect(mine.decide('MOVE', '/a')).to.equal('deny')
    expect(mine.decide('GET', '/a', key(document, 'li'))).to.equal('deny')
    expect(compile({ method: ['MOVE'], selector: ['li'], action: ['Deny'] }).findings).to.have.length(1)
  })
  it('RULE-9 the wildcard is not MOVE', () => {
    const mine = access(site([['*', '*', 'Allow', '/a', 'li']]))
    expect(mine.decide('PUT', '/a', key(document, 'li'))).to.equal('allow')
    expect(mine.decide('MOVE', '/a')).to.equal('unmatched')
  })
  it('RULE-9 the wildcard beside MOVE', () => {
    expect(compile({ method: ['*', 'MOVE'], selector: ['li'] }).rule).to.equal(undefined)
    const denied = access(site([['*', '*|MOVE', 'Deny', '/a', 'li']]))
    expect(['GET', 'MOVE', 'PATCH', 'QUERY'].map(m => denied.decide(m, '/a'))).to.deep.equal(Array(4).fill('deny'))
  })
  it('RULE-9 comes before LOOK-4: a Deny has lost its selector, whatever it was', () => {
    expect(access(site([['*', 'MOVE', 'Deny', '/a', '#{{x}}']])).decide('MOVE', '/a')).to.equal('deny')
  })
  it('RULE-9 without a selector MOVE is granted', () => {
    expect(access(site([['*', 'MOVE', 'Allow', '/a']])).decide('MOVE', '/a')).to.equal('allow')
  })
})

describe('selectors that do not parse', () => {
  const document = html('<li></li>')
  it('RULE-10 an Allow allows nothing', () => {
    const { rule, findings } = compile({ selector: ['li['] })
    expect(rule).to.equal(undefined)
    expect(findings).to.have.length(1)
  })
  it('RULE-10 a Deny denies the whole resource', () => {
    const mine = access(site([['*', 'PUT', 'Deny', '/a', 'li[']]))
    expect(mine.decide('PUT', '/a')).to.equal('deny')
    expect(mine.decide('PUT', '/a', key(document, 'li'))).to.equal('deny')
  })
  it('RULE-10 the same after lookups', () => {
    const rules = (action: string) => site([['*', 'PUT', action, '/a', '[x=${request.headers.x}]']])
    const request = { headers: { x: '' } }
    expect(access(rules('Allow'), request).decide('PUT', '/a', key(document, 'li'))).to.equal('unmatched')
    expect(access(rules('Deny'), request).decide('PUT', '/a')).to.equal('deny')
  })
  it('RULE-10 a selector that is empty after its lookups is not absent', () => {
    const rules = (action: string) => site([['*', 'PUT', action, '/a', '${request.headers.x}']])
    expect(access(rules('Allow')).decide('PUT', '/a')).to.equal('unmatched')
    expect(access(rules('Deny')).decide('PUT', '/a')).to.equal('deny')
  })
  it('RULE-10 a test that is too costly: the Allow does not match, the Deny does', () => {
    const costly = { compile: () => (_element: unknown, context: ExtensionContext) => spendAll(context) }
    const empty = AccessRules.empty(NS, new Map([['costly', costly]]))
    const decide = (action: string, keys: number) => {
      const rule = { ...BASE, selector: [':costly(x)'], action: [action] }
      const mine = access(empty.withDocument('/r.html', { ns: NS, rules: [rule], groups: [] }), { defaultGet: 'deny' })
      const target = key(document, 'li')
      return keys === 1 ? mine.decide('PUT', '/a', target) : mine.permitEvery('PUT', '/a', Array(keys).fill(target))
    }
    expect(decide('Allow', 1)).to.equal('unmatched')
    expect(decide('Deny', 1)).to.equal('deny')
    expect(decide('Allow', 100)).to.equal(false)
    expect(decide('Deny', 100)).to.equal(false)
  })
  it('SEC-4 RULE-10 many tests that are too costly together: an Allow does not match any more, a Deny does', () => {
    const never = { compile: () => (_element: unknown, context: ExtensionContext) => spend(context, 100_000) }
    const empty = AccessRules.empty(NS, new Map([['never', never]]))
    const decide = (action: string, count: number) => {
      const rules = Array.from({ length: count }, (_, i) => ({
        ...BASE,
        selector: [`:never(x):not(.x${i})`],
        action: [action],
      }))
      return access(empty.withDocument('/r.html', { ns: NS, rules, groups: [] })).decide(
        'PUT',
        '/a',
        key(document, 'li'),
      )
    }
    expect(decide('Deny', 8)).to.equal('unmatched')
    expect(decide('Deny', 17)).to.equal('deny')
    expect(decide('Allow', 30)).to.equal('unmatched')
  })
})

function spend(context: ExtensionContext, units: number): boolean {
  context.spend(units)
  return false
}

function spendAll(context: ExtensionContext): boolean {
  for (;;) context.spend(1_000_000)
}

describe('findings', () => {
  const reported: [name: string, change: Partial<RawRule>, text: RegExp][] = [
    ['RULE-13 an actor with {{', { actor: ['{{ user }}'] }, /\{\{/],
    ['RULE-13 a selector with {{', { selector: ['#{{ id }}'] }, /\{\{/],
    ['RULE-13 a resource with {{', { resource: ['/{{ id }}'] }, /resource/],
    ['RULE-13 a deprecated actor', { actor: [':username'] }, /deprecated/],
    ['RULE-5 two methods in one value', { method: ['GET, PUT'] }, /method GET, PUT/],
    ['METH-1 a method that no request has', { method: ['UPDATE'] }, /No request asks for the method UPDATE/],
    ['PATH-1 a resource without slash', { resource: ['plan.html'] }, /plan\.html does not begin with a slash/],
    ['PATH-1 a whole address', { resource: ['https://x.test/plan.html'] }, /is an address/],
    ['PATH-1 an encoded resource', { resource: ['/my%20plan.html'] }, /decoded/],
    ['RULE-13 a resource that is no pattern', { resource: ['/a[b'] }, /resource/],
  ]
  for (const [name, change, text] of reported) {
    it(name, () => {
      const { findings } = compile(change)
      expect(findings).to.have.length(1)
      expect(findings[0]?.reason).to.match(text)
    })
  }
  it('RULE-13 rows of tables and groups are named', () => {
    const groups = [rawGroup(''), rawGroup('users')]
    const { findings } = atOnce(
      compilingAccess('/r.html', { ns: NS, rules: [{ ...BASE, row: 3, method: [] }], groups }),
    )
    expect(findings.map(f => f.row)).to.deep.equal([3, undefined, undefined])
  })
  it('RULE-13 a plain rule gives none', () => {
    expect(compile({}).findings).to.deep.equal([])
  })
})

describe('{{ in fields', () => {
  const document = html('<li title="{{x}}"></li>')
  it('LOOK-4 in a selector it matches nothing, be it an Allow or a Deny', () => {
    for (const selector of ['#{{ id }}', '[title="{{x}}"]']) {
      for (const action of ['Allow', 'Deny']) {
        const mine = access(site([['*', 'PUT', action, '/a', selector]]))
        expect(mine.decide('PUT', '/a', key(document, 'li')), `${action} ${selector}`).to.equal('unmatched')
        expect(mine.decide('PUT', '/a'), `${action} ${selector}`).to.equal('unmatched')
      }
    }
  })
  it('LOOK-4 as an actor it is nobody, and the other actors stay', () => {
    const principal = user('{{x}}')
    expect(access(site([['{{x}}', 'PUT', 'Allow', '/a']]), { principal }).decide('PUT', '/a')).to.equal('unmatched')
    expect(access(site([['{{x}}|*', 'PUT', 'Deny', '/a']])).decide('PUT', '/a')).to.equal('deny')
  })
  it('LOOK-4 in a resource it is never evaluated', () => {
    const mine = access(site([['*', 'PUT', 'Deny', '/{{request.path}}|/{{x}}/*']]), { path: '/a' })
    expect(mine.decide('PUT', '/a')).to.equal('unmatched')
    expect(mine.decide('PUT', '/{{x}}/b')).to.equal('unmatched')
  })
})
