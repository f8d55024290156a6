import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { DocumentKind, ElementNode, TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { packedBytes, packTree, unpackTree } from '../../../pipeline/tree/packed.ts'
import { treeBytes } from '../../../pipeline/tree/weight.ts'
import { find, htmlSoup, nodesOf, runs, tidyHtml, xmlDocument } from './samples.ts'

function unpacked(document: TreeDocument): TreeDocument {
  const tree = unpackTree(packTree(document), document.source)
  if (!tree) throw new Error('the text is the same')
  return tree
}

describe('tree/packed', () => {
  const markup: [what: string, kind: DocumentKind, source: fc.Arbitrary<string>][] = [
    ['HTML that is well nested', 'html', tidyHtml],
    ['HTML in any order', 'html', htmlSoup],
    ['XML', 'xml', xmlDocument],
  ]
  for (const [what, kind, source] of markup)
    it(`HTTP-23 a packed tree comes back as it was: ${what}`, () => {
      fc.assert(
        fc.property(source, text => {
          const document = parseDocument(kind, text)
          expect(unpacked(document)).to.deep.equal(document)
        }),
        runs(1000),
      )
    })

  const cases: [what: string, kind: DocumentKind, source: string][] = [
    ['values with references, in any number', 'html', `<p ${'a&amp;b="x&amp;y" c=d '.repeat(3)} e='f'>`],
    ['names and values that are found at the wrong place first', 'html', '<a href=href class="a" a a1=class>'],
    ['attributes of a second body tag', 'html', '<body a=1><p>x<body b=2 a=3>'],
    ['attributes with namespaces', 'html', '<svg xlink:href=a xmlns:xlink=b xml:lang=c xmlns=d viewbox=e>'],
    ['text that stands elsewhere', 'html', '<table>moved<tr>out<td>x</table></body> behind </html> that'],
    ['texts with references, carriage returns and zeros', 'html', 'a&lt;b\r\nc\0d<pre>\n\nx</pre>'],
    ['templates in each other', 'html', '<template a><p>x<template>y</template></template>z'],
    ['names longer than others', 'html', `<${'x-'.repeat(100)} ${'y'.repeat(5000)}=1>`],
    ['offsets that take three bytes', 'html', `<p>${'long '.repeat(10_000)}</p><i title=${'v'.repeat(40_000)}>`],
    ['quirks', 'html', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 3.2//EN" "a">x'],
    ['comments that end early', 'html', '<!--><!--->x<!--a--!><!-- -- --><?b c><!c'],
    ['instructions and sections', 'xml', '<?a?><?b  c d?><x xmlns:p="u" p:a="1">a<![CDATA[b]]>c&amp;d</x>'],
    ['nothing', 'html', ''],
  ]
  for (const [what, kind, source] of cases)
    it(`HTTP-23 a packed tree comes back as it was: ${what}`, () => {
      const document = parseDocument(kind, source)
      expect(unpacked(document)).to.deep.equal(document)
    })

  it('HTTP-23 names that come after thousands of others are kept with their document', () => {
    const [first = '', ...rest] = Array.from({ length: 30 }, (_, part) =>
      Array.from({ length: 200 }, (_, i) => `<x-${part}-${i} n${part}-${i}=v></x-${part}-${i}>`).join(''),
    )
    const trees = [...rest, first].map(source => parseDocument('html', source))
    const packed = trees.map(document => ({ document, tree: packTree(document) }))
    for (const { document, tree } of packed) expect(unpackTree(tree, document.source)).to.deep.equal(document)
  })

  it('HTTP-23 knows nodes that no parser has made', () => {
    const document = parseDocument('html', '<p>x</p>')
    const body: ElementNode = find(document.root, 'body')
    body.childNodes.push({ nodeName: '#text', value: 'new', parentNode: body, sourceCodeLocation: null })
    expect(unpacked(document)).to.deep.equal(document)
  })

  it('HTTP-23 goes with no other text than its own', () => {
    const packed = packTree(parseDocument('html', '<p>x</p>'))
    expect(unpackTree(packed, '<p>xy</p>')).to.equal(undefined)
  })

  it('a packed tree takes less than a seventh of the memory', () => {
    const document = parseDocument('html', `<ul>${'<li class=entry id=a><a href=/b>text</a> of it'.repeat(100)}</ul>`)
    expect(nodesOf(document.root).length).to.be.greaterThan(300)
    expect(treeBytes(document) / packedBytes(packTree(document))).to.be.greaterThan(7)
  })
})
