/** Edits that the data model changes further. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'
import { surroundings } from '../../../pipeline/write/edit-copy.ts'

describe('the text around what a write has brought', () => {
  const source = '<ul><li>a</li>text<li>b</li><li>c</li></ul>'
  const document = parseDocument('html', source)
  const [, body] = document.root.childNodes.flatMap(html => (isElement(html) ? html.childNodes : []))
  const [list] = body && isElement(body) ? body.childNodes : []
  const nodes = list && isElement(list) ? list.childNodes : []

  for (const [what, brought, before, behind] of [
    ['nothing', [], source, ''],
    ['one element', nodes.slice(2, 3), '<ul><li>a</li>text', '<li>c</li></ul>'],
    ['several in any order', nodes.slice(1, 3).reverse(), '<ul><li>a</li>', '<li>c</li></ul>'],
    ['more than a call has arguments', new Array(130_000).fill(nodes[0]), '<ul>', 'text<li>b</li><li>c</li></ul>'],
  ] as const)
    it(`MOD-30 ${what}`, () =>
      expect(surroundings({ document, part: { nodes: brought, parents: [] } })).to.deep.equal({ before, behind }))
})
