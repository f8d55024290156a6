/** Selectors that read all text of a page leave the loop to others: in many short steps, counted (HTTP-181). */

import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { parseDocument } from '../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../pipeline/tree/nodes.ts'
import { additions } from '../../pipeline/tree/selector/additions.ts'
import { compileSelector, selectingAll } from '../../pipeline/tree/selector/selector.ts'
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
})
