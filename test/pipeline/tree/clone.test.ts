import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { cloneNode, cloneTree, cloning } from '../../../pipeline/tree/clone.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type AnyNode, type ChildNode, isElement } from '../../../pipeline/tree/nodes.ts'
import { equalTrees, outerMarkup, serializeDocument } from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { find, htmlSoup, nodesOf, runs } from './samples.ts'

describe('tree/clone', () => {
  it('a copy equals its original and shares no node, attribute or place with it', () => {
    fc.assert(
      fc.property(htmlSoup, source => {
        const document = parseDocument('html', source)
        const copy = cloneTree(document)
        expect(equalTrees(copy.root, document.root)).to.equal(true)
        expect([copy.kind, copy.source, copy.clean, copy.root.mode]).to.deep.equal([
          'html',
          source,
          document.clean,
          document.root.mode,
        ])
        const originals = nodesOf(document.root)
        nodesOf(copy.root).forEach((node, i) => {
          const original = originals[i]
          expect(node).to.not.equal(original)
          expect(node.sourceCodeLocation).to.deep.equal(original?.sourceCodeLocation)
          if (node.sourceCodeLocation) expect(node.sourceCodeLocation).to.not.equal(original?.sourceCodeLocation)
          if (isElement(node)) node.attrs.push({ name: 'new', value: '' })
        })
        expect(serializeDocument(document)).to.not.match(/ new=""/)
      }),
      runs(100),
    )
  })

  it('every node is told with its copy, those in templates as well', () => {
    const document = parseDocument('html', '<p>a<b>c</b><!--d--><template><i></i></template>')
    const copies = new Map<ChildNode, ChildNode>()
    const copy = atOnce(cloning(document, (node, other) => copies.set(node, other)))
    expect([...copies.keys()]).to.have.members(nodesOf(document.root))
    expect([...copies.values()]).to.have.members(nodesOf(copy.root))
    for (const [node, other] of copies) expect(other.nodeName).to.equal(node.nodeName)
  })

  it('parents are those of the copy', () => {
    const copy = cloneTree(parseDocument('html', '<p>a<b>c</b><!--d--><template><i></i></template>'))
    const check = (node: AnyNode): void => {
      if (!('childNodes' in node)) return
      for (const child of node.childNodes) {
        expect(child.parentNode).to.equal(node)
        check(child)
      }
      if (isElement(node) && node.content) check(node.content)
    }
    check(copy.root)
  })

  it('one node with all below it, for a new parent', () => {
    const { root } = parseDocument('xml', '<a><b k="1">x<?i d?></b></a>')
    const b = find(root, 'b')
    const copy = cloneNode(b)
    expect(copy.parentNode).to.equal(null)
    expect(outerMarkup(copy, 'xml')).to.equal('<b k="1">x<?i d?></b>')
    expect(cloneNode(b, root).parentNode).to.equal(root)
    expect(root.childNodes).to.have.length(1)
  })
})
