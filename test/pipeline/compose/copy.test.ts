/** What nodes count as that are put into pages. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { bytesOf } from '../../../pipeline/compose/copy.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'

describe('SEC-12 a node that is put into a page counts at least as what is written of it', () => {
  const list = (count: number, make: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => make(i)).join(' ')
  for (const [what, markup, source] of [
    ['its names are long', `<i ${list(8, i => `${'n'.repeat(7_000)}${i}=""`)}></i>`],
    ['it has a long name', `<x-${'n'.repeat(8_000)}></x-${'n'.repeat(8_000)}>`],
    ['it has many attributes', `<i ${list(1_000, i => `a${i}=""`)}></i>`],
    ['its values are long', `<i a="${'v'.repeat(50_000)}"></i>`],
    ['it is usual', '<article id="a" class="post" itemscope="" itemtype="urn:t:Post"></article>'],
    ['it is a text', 't'.repeat(50_000)],
    ['it is a comment', `<!--${'c'.repeat(50_000)}-->`],
    [
      'its names have a prefix',
      `<r xmlns:${'p'.repeat(4_000)}="urn:x" ${'p'.repeat(4_000)}:${'n'.repeat(4_000)}=""/>`,
      'xml',
    ],
  ] as const)
    it(what, () => {
      const { root } = parseDocument(source ?? 'html', source ? markup : `<!doctype html><body>${markup}`)
      const html = root.childNodes.find(isElement)
      const node = source ? html : html?.childNodes.filter(isElement).at(-1)?.childNodes[0]
      expect(node && bytesOf(node)).to.be.at.least(markup.length)
    })

  it('which for most is the same for all, however they are called', () => {
    const { root } = parseDocument('html', '<p id=a class=b title=""></p>')
    const body = root.childNodes.find(isElement)?.childNodes.filter(isElement).at(-1)
    const [p] = body?.childNodes ?? []
    expect(p && bytesOf(p)).to.equal(252)
  })
})
