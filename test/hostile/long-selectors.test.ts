/** Selectors that read all text of a page leave the loop to others: in many short steps, counted (HTTP-181). */

import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { parseDocument } from '../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../pipeline/tree/nodes.ts'
import { additions } from '../../pipeline/tree/selector/additions.ts'
import { STEPS } from '../../pipeline/tree/selector/query.ts'
import { compileSelector, type ExtensionTest, selectAll, selectingAll } from '../../pipeline/tree/selector/selector.ts'
import { NODES_PER_STEP } from '../../pipeline/tree/steps.ts'
import { page } from '../support/content.ts'

const SIZE = 1_500_000

const CARD =
  '<div itemscope itemtype="urn:c"><h3 itemprop="name">A title</h3><p>Some <b>text</b></p><ul><li>one<li>two</ul></div>\n'
const NEST = `${'<div>'.repeat(100)}x${'</div>'.repeat(100)}`

describe('selectors on a page of 1.5 MB', () => {
  const documents = new Map<string, TreeDocument>()
  before(() => {
    for (const [name, piece] of [
      ['wide', CARD],
      ['deep', NEST],
    ] as const)
      documents.set(name, parseDocument('html', page(piece.repeat(Math.floor(SIZE / piece.length)))))
  })

  /** The text of the page is put together in steps as well; of what is long each element is read in steps. */
  for (const text of ['div:contains("zzz")', '*:contains("zzz")', '*:value-contains("zzz")', 'div:equals("zzz")'])
    it(`HTTP-181 ${text} reads all text of a deep page a few hundred nodes at a time`, () => {
      const document = documents.get('deep')
      if (!document) throw new Error('no document')
      const selector = compileSelector(text, { extensions: additions() })
      const nodes = (SIZE / NEST.length) * 101
      const work = selectingAll(selector, document)
      let steps = 0
      while (!work.next().done) steps++
      // Once for the search, twice for the text of the whole, which comes to each element twice.
      expect(steps).to.be.at.least((3 * nodes) / NODES_PER_STEP)
    })

  it('HTTP-181 one text of a megabyte is read in pieces', () => {
    const document = parseDocument('html', page(`<p>${'some words '.repeat(100_000)}</p>`))
    const work = selectingAll(compileSelector('p:contains("zzz")', { extensions: additions() }), document)
    let steps = 0
    while (!work.next().done) steps++
    expect(steps).to.be.at.least(60)
  })

  const selectors = [
    'div:contains("zzz")',
    '*:contains("zzz")',
    'div:has(div:contains("zzz"))',
    'div:has(ul):has(b):has(h3):has(i)',
    'div:value-contains("zzz")',
    '*:value-contains("zzz")',
    ':not(:has(zz)) zz',
  ]
  for (const text of selectors)
    for (const name of ['wide', 'deep'])
      it(`HTTP-181 ${text} on a ${name} page can be left often`, () => {
        const document = documents.get(name)
        if (!document) throw new Error('no document')
        const work = selectingAll(compileSelector(text, { extensions: additions() }), document)
        let steps = 0
        while (!work.next().done) steps++
        expect(steps).to.be.at.least(5)
      })

  /** `:seen(x)` counts for how many elements it is asked, and matches none. */
  function counting() {
    const counted = { now: 0, most: 0, all: 0 }
    const test: ExtensionTest = () => {
      counted.all++
      counted.most = Math.max(counted.most, ++counted.now)
      return false
    }
    return { counted, extensions: new Map([...additions(), ['seen', { compile: () => test }] as const]) }
  }

  for (const [name, text] of [
    ['wide', 'html:has(:seen(x))'],
    ['deep', 'html:has(b :seen(x), > body :seen(x))'],
    ['wide', 'html:not(:has(> body > * :seen(x)))'],
    ['deep', 'html:only(:not(:seen(x)))'],
    ['wide', 'html:only(> :not(:seen(x)), body *)'],
    ['wide', 'html:has(:nth-last-child(2 of :seen(x)))'],
    ['wide', 'html:has(h3 ~ :seen(x))'],
    ['deep', 'html:nth-child(count(:seen(x)))'],
    ['wide', 'body > div:nth-last-child(1 of :has(:seen(x)))'],
  ] as const)
    it(`SEC-12 ${text} leaves the loop within one test of an element of a ${name} page`, () => {
      const document = documents.get(name)
      if (!document) throw new Error('no document')
      const { counted, extensions } = counting()
      const work = selectingAll(compileSelector(text, { extensions }), document)
      let found = 0
      for (let step = work.next(); ; step = work.next()) {
        counted.now = 0
        if (!step.done) continue
        found = step.value.length
        break
      }
      // What has only begun to remember may ask some again.
      expect(counted.most, `of ${counted.all}`).to.be.at.most(STEPS.free)
      expect(counted.all).to.be.below(2.5 * document.source.length)
      expect(selectAll(compileSelector(text, { extensions }), document).length).to.equal(found)
    })

  const SIBLINGS = 60_000
  for (const text of [':nth-last-of-type(2)', ':nth-of-type(3)', ':nth-last-child(2)', 'b + b', ':nth-child(2 of b)'])
    it(`SEC-12 ${text} lists and numbers many siblings before it looks at the second, in steps`, () => {
      const document = parseDocument('html', page(`<p>${'<b></b>'.repeat(SIBLINGS)}</p>`))
      const { counted, extensions } = counting()
      const work = selectingAll(compileSelector(`p > b:is(${text}):seen(x)`, { extensions }), document)
      let steps = 0
      while (counted.all === 0 && !work.next().done) steps++
      expect(steps).to.be.at.least(SIBLINGS / 5_000)
    })
})
