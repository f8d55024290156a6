/** What items are to transitions where many constraints meet many items (REA-101, REA-106, REA-108, SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { itemElements } from '../../../pipeline/model/items.ts'
import { Registry } from '../../../pipeline/model/registry.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { parseSelector } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { type ItemStates, itemReader, pairing } from '../../../pipeline/write/transition-items.ts'
import { noted, refuseOvertaken } from '../../../pipeline/write/transition-races.ts'
import { findingAmbiguity } from '../../../pipeline/write/transition-violations.ts'
import { NS, page } from '../../support/content.ts'

const range = (count: number) => Array.from({ length: count }, (_, i) => i)
const SELECTOR = "[itemtype='x:t']"

/** Items of one type, watched for 1,000 properties. */
function itemsOf(...states: string[]): ItemStates[] {
  const selector = parseSelector(SELECTOR, undefined)
  if (!selector) throw new Error(SELECTOR)
  const constraints = range(1_000).map(i => {
    const constraint = { selector: SELECTOR, property: `s${i}`, from: ['a'], to: ['b'] }
    return { path: '/rules.html', selector, constraint }
  })
  const registry = Registry.empty({ ns: NS, schemaHost: 'https://schema.org' })
  const markup = states.map(state => `<p itemscope itemtype="x:t">${state}</p>`)
  const document = parseDocument('html', page(markup.join('')))
  return atOnce(itemReader(registry, { constraints, handlers: [] })(document, itemElements(document.root)))
}

const meta = (name: string, value: string) => `<meta itemprop="${name}" content="${value}">`

describe('Items that many constraints watch', () => {
  it('REA-101 SEC-12 share what watches them, and have states of what they hold', () => {
    const items = itemsOf(...range(100).map(() => meta('s7', 'a') + meta('other', 'x')))
    expect(new Set(items.map(({ watchers }) => watchers)).size).to.equal(1)
    expect(items[99]?.watchers.size).to.equal(1_000)
    expect([...(items[99]?.values ?? [])]).to.deep.equal([['s7', ['a']]])
  })

  for (const [what, before, now, found] of [
    ['other states of one property', ['a', 'b'], ['a', 'a'], ['s7']],
    ['the same in another order', ['a', 'b'], ['b', 'a'], []],
    ['one item more', ['a'], ['a', 'a'], range(100).map(i => `s${i}`)],
    ['one that has it no more', ['a', 'b'], ['a', ''], ['s7']],
  ] as const)
    it(`REA-106 SEC-12 of those that nobody can tell apart an answer lists what it can: ${what}`, () => {
      const of = (states: readonly string[]) => itemsOf(...states.map(state => state && meta('s7', state)))
      const [group] = pairing(of(before), of(now)).ambiguous
      if (!group) throw new Error('all can be told apart')
      expect(atOnce(findingAmbiguity(group)).flatMap(({ properties }) => properties)).to.deep.equal(found)
    })

  for (const [what, before, now, isOvertaken] of [
    ['the same', meta('s7', 'a'), meta('s7', 'a'), false],
    ['another state', meta('s7', 'a'), meta('s7', 'b'), true],
    ['a state gone', meta('s7', 'a'), '', true],
    ['a state come', '', meta('s7', 'a'), true],
    ['what nobody watches', '', meta('other', 'a'), false],
  ] as const)
    it(`REA-108 an item is as it was noted, by what it holds: ${what}`, () => {
      const ask = () => refuseOvertaken(noted(itemsOf(before)), noted(itemsOf(now)))
      if (isOvertaken) expect(ask).to.throw().with.property('status', 412)
      else expect(ask).not.to.throw()
    })

  it('REA-108 an item that is gone, or watched no more, is not as it was', () => {
    const [item] = itemsOf('')
    if (!item) throw new Error('no item')
    expect(() => refuseOvertaken(noted([item]), noted([])))
      .to.throw()
      .with.property('status', 412)
    const unwatched = { ...item, watchers: new Map([...item.watchers].slice(1)) }
    expect(() => refuseOvertaken(noted([item]), noted([unwatched])))
      .to.throw()
      .with.property('status', 412)
    expect(() => refuseOvertaken(noted([unwatched]), noted([item]))).not.to.throw()
  })
})
