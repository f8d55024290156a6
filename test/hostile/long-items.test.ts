/** Large items that somebody watches are read and told of in many short steps, counted (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type NotedItem, notingAll, Prefixes } from '../../pipeline/declarations/derive.ts'
import { findingSlips } from '../../pipeline/declarations/fields.ts'
import { Machine } from '../../pipeline/language/sessel/machine.ts'
import { compile } from '../../pipeline/language/sessel/sessel.ts'
import { ElementValue, type Value } from '../../pipeline/language/values.ts'
import { DocumentValues, itemElements, readingItem } from '../../pipeline/model/items.ts'
import { findingHeld } from '../../pipeline/model/losses.ts'
import { findingChains } from '../../pipeline/model/read-chains.ts'
import { Registry } from '../../pipeline/model/registry.ts'
import { extractingReactions } from '../../pipeline/react/declared/extract.ts'
import type { PlacedHandler } from '../../pipeline/react/declared/reactions.ts'
import type { Site } from '../../pipeline/site/site.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { readingAllItems, readingItemsWithin, readingProperties } from '../../pipeline/tree/microdata.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { compileSelector, selectFirst } from '../../pipeline/tree/selector/selector.ts'
import { atOnce, type Steps } from '../../pipeline/tree/steps.ts'
import { TokenCollector } from '../../pipeline/tree/tokens.ts'
import { TransitionJudge } from '../../pipeline/write/transitions.ts'
import { hostFor } from '../pipeline/language/sessel/site.ts'
import { NS } from '../support/content.ts'
import { stepsOf } from '../support/steps.ts'
import { unhurried } from '../support/unhurried.ts'

const handler: PlacedHandler = {
  path: '/handler.html',
  handler: {
    selector: '[itemtype="urn:t"]',
    property: 'state',
    becomes: ['done'],
    when: [],
    url: 'https://hooks.example/',
    method: 'POST',
    headers: [],
  },
}

const declared = { constraints: [], handlers: [handler] }
const site = { declarations: () => declared, model: Registry.empty({ ns: NS, schemaHost: NS }) } as unknown as Site

/** Steps of a program about a stored element of 20,000 others, and what it gives. */
function program(text: string): { steps: number; value: Value } {
  const document = parseDocument('html', `<ul>${'<li><b>x</b></li>'.repeat(20_000)}</ul>`)
  const node = selectFirst(compileSelector('ul'), document)
  if (!node) throw new Error('no element')
  const host = { ...hostFor(), self: new ElementValue(node, { path: '/a.html', document }) }
  const machine = new Machine(compile(text), host, unhurried())
  for (let steps = 0; ; steps++) {
    const progress = machine.run(0)
    if (progress instanceof Promise) throw new Error('nothing to wait for')
    if (progress !== 'turn') return { steps, value: progress.value }
  }
}

describe('large elements that programs copy', () => {
  for (const [what, text] of [
    ['a clone', 'self.clone().children().count()'],
    ['what is appended', 'let a = new div; a.append(self); a.children().first().children().count()'],
    ['what is put in front', 'let a = new div { "x" }; a.prepend([self]); a.children().first().children().count()'],
    [
      'what stands instead',
      'let a = new p; let b = new div { a }; a.replaceWith(self); b.children().first().children().count()',
    ],
    ['what is constructed with it', '(new div { "x", [self] }).children().first().children().count()'],
  ] as const)
    it(`SEC-12 SES-144 ${what} is copied in steps`, () => {
      const { steps, value } = program(text)
      expect(steps).to.be.at.least(80)
      expect(value).to.equal(20_000n)
    })
})

describe('large items', () => {
  const page = (state: string, inside: string) =>
    parseDocument(
      'html',
      `<div itemprop="a" id="x" itemscope itemtype="urn:t"><b itemprop="state">${state}</b>${inside}</div>`,
    )

  function transition(before: string, after: string) {
    const judge = TransitionJudge.of(site, { fired: () => undefined })
    if (!judge) throw new Error('nobody watches')
    const work = judge.whole('/a.html', page('open', before), page('done', after))
    for (let steps = 0; ; steps++) {
      const step = work.next()
      if (step.done) return { steps, fired: step.value.fired }
    }
  }

  it('SEC-12 REA-122 an item of many elements that fires is written in steps', () => {
    const inside = '<p><i>x</i></p>'.repeat(40_000)
    const { steps, fired } = transition('', inside)
    const [first] = fired
    expect(fired).to.have.length(1)
    expect(steps).to.be.at.least((40_000 * 2) / 500)
    const wanted = `<div itemprop="body" id="x" itemscope="" itemtype="urn:t"><b itemprop="state">done</b>${inside}</div>`
    expect(first?.item === wanted).to.equal(true)
  })

  it('SEC-12 MOD-22 REA-102 short values that stand in each other are read in steps', () => {
    const nested = `<div itemscope>${'<b itemprop="x">'.repeat(200)}${'a<p>'.repeat(4_000)}`
    const element = selectFirst(compileSelector('div'), parseDocument('html', nested))
    if (!element) throw new Error('no item')
    const item = atOnce(readingItem(element))
    const values = new DocumentValues(NS)
    const read = function* (): Steps<void> {
      for (const value of item.properties.get('x') ?? []) yield* values.reading(value, item)
    }
    expect(stepsOf(read())).to.be.at.least(40)
  })

  it('SEC-12 REA-102 long values of a property that is watched are read in steps', () => {
    const { steps, fired } = transition('', `<b itemprop="state">${'word \n'.repeat(400_000)}</b>`)
    expect(fired).to.deep.equal([])
    expect(steps).to.be.at.least(20)
  })
})

describe('items of many types', () => {
  const types = Array.from({ length: 1000 }, (_, i) => `u:${i}`).join(' ')
  const parsed = (own: string, count: number) =>
    parseDocument('html', `<i itemscope itemtype="${own}"></i>`.repeat(count)).root
  const root = parsed(types, 20)
  const elements = itemElements(root)
  const [named = elements[0] as ElementNode] = itemElements(
    parseDocument('html', `<p itemscope>${`<b itemprop="${types}"></b>`.repeat(21)}</p>`).root,
  )
  const vocabulary = { ns: NS, schemaHost: NS }
  const noted = { items: [] as NotedItem[], bare: [], prefixes: new Prefixes(), tokens: new TokenCollector() }

  for (const [rule, what, work] of [
    ['MOD-1', 'are noted', () => notingAll(root.childNodes, true, noted)],
    ['REA-2', 'are no reactions', () => extractingReactions(elements, vocabulary, (type, own) => type === own)],
    [
      'RULE-1',
      'are no rules',
      () =>
        readingAllItems(
          root,
          () => '',
          () => false,
        ),
    ],
    ['HTTP-70', 'are items', () => readingItemsWithin([...elements], () => '')],
    ['HTTP-70', 'are names of properties, and these are listed', () => readingProperties(named, () => '')],
    [
      'MOD-52',
      'are names of properties, and nobody refers to them',
      () => findingHeld(Registry.empty(vocabulary), named),
    ],
    ['MOD-3', 'have no fields', () => findingSlips(noted.items, [], vocabulary)],
    ['MOD-71', 'have no resolvers', () => findingChains(Registry.empty(vocabulary), root)],
    ['MOD-112', 'are names of properties, and an item is read', () => readingItem(named)],
    ['MOD-3', 'have no itemscope', () => findingSlips([], itemElements(parsed('u:t', 20)), vocabulary)],
  ] as const)
    it(`${rule} SEC-12 they ${what} in steps`, () => expect(stepsOf(work())).to.be.at.least(20))

  it('MOD-3 SEC-12 fields that stand beside an item are looked for in a bounded part of what is there', () => {
    const told = (between: number) => {
      const markup = `<p itemscope itemtype="${NS}/Group"></p>${'<i itemprop="x"></i>'.repeat(between)}<b itemprop="member"></b>`
      const into = { items: [] as NotedItem[], bare: [], prefixes: new Prefixes(), tokens: new TokenCollector() }
      atOnce(notingAll(parseDocument('html', markup).root.childNodes, true, into))
      return atOnce(findingSlips(into.items, [], vocabulary)).fields.length
    }
    expect([told(0), told(100), told(10_000)]).to.deep.equal([1, 1, 0])
  })
})
