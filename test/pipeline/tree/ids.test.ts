import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type Edit, EditError, edit } from '../../../pipeline/tree/edit/edit.ts'
import { type ElementNode, isElement, type ParentNode } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, findingOnly, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { page } from '../../support/content.ts'

function below(node: ParentNode): ElementNode[] {
  return node.childNodes.filter(isElement).flatMap(element => [element, ...below(element)])
}

const IDS = ['a', 'b', 'c']

describe('Elements by their ids', () => {
  it('HTTP-80 the only element with an id is known after any edits, and any other is not', () => {
    const open = fc.constantFrom('<div>', ...IDS.map(id => `<div id="${id}">`))
    const leaf = open.map(tag => `${tag}</div>`)
    const element = fc
      .tuple(open, fc.array(leaf, { maxLength: 3 }))
      .map(([tag, inside]) => `${tag}${inside.join('')}</div>`)
    const step = fc.record({
      op: fc.constantFrom('replace', 'insert', 'remove', 'move'),
      at: fc.nat(40),
      to: fc.nat(40),
      text: element,
      look: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(element, { maxLength: 4 }), fc.array(step, { maxLength: 10 }), (inside, steps) => {
        let document = parseDocument('html', page(`<main>${inside.join('')}</main>`))
        let edits = 0
        for (const { op, at, to, text, look } of steps) {
          const elements = below(document.root).slice(3)
          const [target, anchor] = [elements[at % elements.length], elements[to % elements.length]]
          if (!target || !anchor) break
          const common = { target, source: target, anchor, placement: 'append', text }
          try {
            const before = document
            document = atOnce(edit(document, { op, ...common } as Edit).accepting())
            edits = document === before ? edits + 1 : 0
          } catch (error) {
            if (!(error instanceof EditError)) throw error
          }
          for (const id of look ? IDS : []) {
            const selector = compileSelector(`#${id}`)
            const [first, ...others] = selectAll(selector, document)
            const known = atOnce(findingOnly(selector, document))
            if (known) expect([known, others]).to.deep.equal([first, []])
            else if (edits > 1) expect(first === undefined || others.length > 0).to.equal(true)
          }
        }
      }),
      { numRuns: 200, seed: 20311105 },
    )
  })

  it('HTTP-80 other selectors, and documents that ignore the case of ids, are searched', () => {
    const tagAfter = (markup: string, text: string) => {
      const document = parseDocument('html', markup)
      const main = below(document.root).find(({ tagName }) => tagName === 'main')
      if (!main) throw new Error('The page has no main element.')
      const added = '<p id="x">1</p>'
      const edited = atOnce(
        edit(document, { op: 'insert', anchor: main, placement: 'append', text: added }).accepting(),
      )
      return atOnce(findingOnly(compileSelector(text), edited))?.tagName
    }
    const plain = page('<main></main>')
    expect(tagAfter(plain, '#x')).to.equal('p')
    for (const text of ['#X', 'p#x', '#x, #y', 'main #x', '#x::before', '.x'])
      expect(tagAfter(plain, text), text).to.equal(undefined)
    expect(tagAfter('<main></main>', '#x')).to.equal(undefined)
  })
})
