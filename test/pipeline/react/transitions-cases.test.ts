/** Transitions of whole documents, case by case (REA-100 to REA-106). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { caseByCase, type Raw } from './cases.ts'
import { meta, NS, page } from './site.ts'

const typeOf = (at: string) => `https://l.example${at}`
const item = (at: string, state?: string, key?: string, more = '') =>
  `<div class="l" itemscope itemtype="${typeOf(at)}">${key ? `<i itemprop="ticket">${key}</i>` : ''}${state === undefined ? '' : `<b itemprop="state">${state}</b>`}${more}</div>`
const constraint = (at: string, from: string[], to: string[], more: { selector?: string; property?: string } = {}) =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', more.selector ?? `[itemtype='${typeOf(at)}']`)}${meta('property', more.property ?? 'state')}${from.map(each => meta('from', each)).join('')}${to.map(each => meta('to', each)).join('')}</div>`
const machine = (at: string) =>
  constraint(at, [], ['out']) +
  constraint(at, ['out'], ['late']) +
  constraint(at, ['out', 'late'], ['back']) +
  constraint(at, ['back'], [])
const keyed = (at: string) =>
  `<div itemscope itemtype="${NS}/Schema">${meta('type', typeOf(at))}<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('name', 'ticket')}${meta('unique', 'true')}${meta('@key', 'true')}</div></div>`

describe('Transitions of documents, case by case', () => {
  const server = caseByCase()
  const { add, ask } = server
  const documents: [
    title: string,
    rules: (at: string) => string,
    before: ((at: string) => string) | undefined,
    after: ((at: string) => string) | undefined,
    status: number,
    check?: (r: Raw) => unknown,
  ][] = [
    ['REA-100 a document comes in the state of an entry', machine, undefined, at => item(at, 'out'), 201],
    [
      'REA-100, REA-109 DELETE of a document needs an exit',
      machine,
      at => item(at, 'late'),
      undefined,
      422,
      r => expect(r.text).to.match(/itemprop="to"[^>]*>\s*<|itemprop="to" content=""/),
    ],
    ['REA-100 DELETE of a document by an exit', machine, at => item(at, 'back'), undefined, 204],
    ['REA-101 an item without the property comes', machine, undefined, at => item(at), 201],
    ['REA-101 an item without the property goes', machine, at => item(at), undefined, 204],
    [
      'REA-101, REA-107 all violations are reported',
      at => machine(at) + keyed(at),
      at => item(at, 'late', 'a') + item(at, 'late', 'b') + item(at, 'out', 'c'),
      at => item(at, 'out', 'a') + item(at, 'out', 'b') + item(at, 'late', 'c'),
      422,
      r => expect(r.text.match(/itemprop="violations" itemscope/g)?.length).to.equal(2),
    ],
    [
      'REA-109 a violation names the key',
      at => machine(at) + keyed(at),
      at => item(at, 'late', 'k-1'),
      at => item(at, 'out', 'k-1'),
      422,
      r => expect(r.text).to.match(/itemprop="key"[^>]*>k-1<|itemprop="key" content="k-1"/),
    ],
    [
      'REA-102 a violation by several values has no new state',
      machine,
      at => item(at, 'out'),
      at => item(at, 'out', undefined, '<b itemprop="state">late</b>'),
      422,
      r => expect(r.text).not.to.include('itemprop="to"'),
    ],
    [
      'REA-102 several old values count as none: an entry',
      machine,
      at => item(at, 'late', undefined, '<b itemprop="state">x</b>'),
      at => item(at, 'out'),
      200,
    ],
    [
      'REA-102 several old values count as none: no entry',
      machine,
      at => item(at, 'late', undefined, '<b itemprop="state">x</b>'),
      at => item(at, 'late'),
      422,
    ],
    ['REA-100 the case of a state counts', machine, undefined, at => item(at, 'Out'), 422],
    [
      'REA-100 blanks of a value count',
      machine,
      undefined,
      at => item(at, undefined, undefined, '<meta itemprop="state" content=" out">'),
      422,
    ],
    ['REA-100, MOD-22 blanks of text do not', machine, undefined, at => item(at, ' out\n'), 201],
    [
      'REA-100 every combination of from and to',
      at => constraint(at, ['a', 'b'], ['c', 'd']),
      at => item(at, 'b'),
      at => item(at, 'c'),
      200,
    ],
    [
      'REA-100 from the empty text to a state',
      at => constraint(at, [''], ['open']),
      at => item(at, undefined, undefined, '<meta itemprop="state" content="">'),
      at => item(at, undefined, undefined, '<meta itemprop="state" content="open">'),
      200,
    ],
    [
      'REA-100 the empty text is not absence',
      at => constraint(at, [''], ['open']),
      undefined,
      at => item(at, 'open'),
      422,
    ],
    [
      'REA-100 an entry with the empty text',
      at => constraint(at, [], ['']),
      undefined,
      at => item(at, undefined, undefined, '<meta itemprop="state" content="">'),
      201,
    ],
    [
      'REA-101 :isa() watches derived types',
      at =>
        `<div itemscope itemtype="${NS}/Schema">${meta('type', `${typeOf(at)}/base`)}</div><div itemscope itemtype="${NS}/Schema">${meta('type', typeOf(at))}${meta('parent', `${typeOf(at)}/base`)}</div>${constraint(at, [], ['out'], { selector: `:isa('${typeOf(at)}/base')` })}`,
      undefined,
      at => item(at, 'late'),
      422,
    ],
    [
      'REA-101 an item that the rule selects before alone',
      at =>
        constraint(at, ['x'], ['y'], { selector: '.l.hot' }).replaceAll('.l.hot', `.l.hot[itemtype='${typeOf(at)}']`),
      at => item(at, 'x').replace('class="l"', 'class="l hot"'),
      at => item(at, 'z'),
      422,
    ],
    [
      'REA-101 an item that the rule selects afterwards alone',
      at => constraint(at, ['x'], ['y'], { selector: '.hot' }).replaceAll('.hot', `.hot[itemtype='${typeOf(at)}']`),
      at => item(at, 'x'),
      at => item(at, 'z').replace('class="l"', 'class="l hot"'),
      422,
    ],
    [
      'REA-101 an incomplete rule is ignored',
      at => constraint(at, [], []),
      at => item(at, 'x'),
      at => item(at, 'z'),
      200,
    ],
    [
      'REA-101 a selector that does not parse watches nothing',
      at => constraint(at, ['q'], ['r'], { selector: 'p[' }),
      at => item(at, 'x'),
      at => item(at, 'z'),
      200,
    ],
    [
      'REA-101 a rule for another property',
      at => constraint(at, ['q'], ['r'], { property: 'other' }),
      at => item(at, 'x'),
      at => item(at, 'z'),
      200,
    ],
    [
      'REA-104 items that swap places are the same by key',
      at => machine(at) + keyed(at),
      at => item(at, 'late', 'a') + item(at, 'out', 'b'),
      at => item(at, 'late', 'b') + item(at, 'late', 'a'),
      200,
    ],
    [
      'REA-104 items in another order are unchanged',
      at => machine(at) + keyed(at),
      at => item(at, 'late', 'a') + item(at, 'out', 'b'),
      at => item(at, 'out', 'b') + item(at, 'late', 'a'),
      200,
    ],
    [
      'REA-104 one of two items with keys exits',
      at => machine(at) + keyed(at),
      at => item(at, 'late', 'a') + item(at, 'back', 'b'),
      at => item(at, 'late', 'a'),
      200,
    ],
    [
      'REA-104 a lone item pairs without a key',
      machine,
      at => item(at, 'out'),
      at => `<section>${item(at, 'late')}</section>`,
      200,
    ],
    [
      'REA-106 two that become one: the message names @key',
      machine,
      at => item(at, 'back') + item(at, 'back'),
      at => item(at, 'back'),
      422,
      r => expect(r.text).to.include('@key'),
    ],
    ['REA-106 one that becomes two', machine, at => item(at, 'out'), at => item(at, 'out') + item(at, 'out'), 422],
  ]
  for (const [title, rules, before, after, status, check] of documents)
    add(title, rules, async at => {
      const old = before?.(at)
      if (old !== undefined) await server.put(`${at}/w.html`, page(old))
      const r = after ? await ask('PUT', `${at}/w.html`, {}, page(after(at))) : await ask('DELETE', `${at}/w.html`)
      expect(r.status).to.equal(status)
      if (status >= 400 && old !== undefined) expect((await ask('GET', `${at}/w.html`)).text).to.equal(page(old))
      check?.(r)
    })
})
