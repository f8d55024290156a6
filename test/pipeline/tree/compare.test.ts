import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { cloneTree } from '../../../pipeline/tree/clone.ts'
import { equalNodes, equalTrees } from '../../../pipeline/tree/compare.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type DocumentKind, isText, type TextNode } from '../../../pipeline/tree/nodes.ts'
import { htmlSoup, nodesOf, runs } from './samples.ts'

describe('tree/compare', () => {
  const cases: [what: string, kind: DocumentKind, a: string, b: string, equal: boolean][] = [
    ['the same text', 'html', '<p>x', '<p>x', true],
    [
      'implied and written tags',
      'html',
      '<table><tr><td>x',
      '<html><head></head><body><table><tbody><tr><td>x</td></tr></tbody></table></body></html>',
      true,
    ],
    ['references and characters', 'html', '<p>&amp;é', '<p>&&eacute;', true],
    ['CDATA and text', 'xml', '<a><![CDATA[<]]>x</a>', '<a>&lt;x</a>', true],
    ['attributes in another order', 'html', '<p a=1 b=2>', '<p b=2 a=1>', true],
    ['another attribute value', 'html', '<p a=1 b=2>', '<p a=1 b=3>', false],
    ['another attribute name', 'html', '<p a=1>', '<p b=1>', false],
    ['one attribute more', 'html', '<p a=1>', '<p a=1 b=2>', false],
    [
      'another attribute namespace',
      'xml',
      '<a xmlns:p="u" xmlns:q="v" p:k=""/>',
      '<a xmlns:p="u" xmlns:q="v" q:k=""/>',
      false,
    ],
    ['another name', 'html', '<b>x</b>', '<i>x</i>', false],
    ['another prefix', 'xml', '<p:a xmlns:p="u"/>', '<q:a xmlns:q="u"/>', false],
    ['another namespace', 'xml', '<a xmlns="u"/>', '<a xmlns="v"/>', false],
    ['another text', 'html', '<p>x', '<p>y', false],
    ['another nesting', 'html', '<b>x</b>y', '<b>xy</b>', false],
    ['one node more', 'html', '<p>x<br>', '<p>x', false],
    ['one node less', 'html', '<p>x', '<p>x<br>', false],
    ['text before and behind', 'html', '<p>x<br>', '<p><br>x', false],
    ['another comment', 'html', '<!--a-->', '<!--b-->', false],
    ['comment and text', 'html', '<p><!--a-->', '<p>a', false],
    ['another doctype', 'html', '<!doctype html>', '<!doctype html system "x">', false],
    ['another name of a doctype', 'html', '<!doctype html>', '<!doctype htm>', false],
    ['another public id', 'html', '<!doctype html public "a">', '<!doctype html public "b">', false],
    ['no doctype', 'html', '<!doctype html>', '', false],
    ['another target of an instruction', 'xml', '<a><?x y?></a>', '<a><?z y?></a>', false],
    ['another instruction', 'xml', '<a><?x y?></a>', '<a><?x z?></a>', false],
    ['the same instruction', 'xml', '<a><?x y?></a>', '<a><?x   y?></a>', true],
    ['other template contents', 'html', '<template>a</template>', '<template>b</template>', false],
    ['the same template contents', 'html', '<template>a</template>', '<template >a</template >', true],
  ]
  for (const [what, kind, a, b, equal] of cases) {
    it(`${what}: ${equal ? 'equal' : 'not equal'}`, () => {
      expect(equalTrees(parseDocument(kind, a).root, parseDocument(kind, b).root)).to.equal(equal)
      expect(equalTrees(parseDocument(kind, b).root, parseDocument(kind, a).root)).to.equal(equal)
    })
  }

  it('text nodes in a row count as one, empty ones not at all', () => {
    const text = (value: string): TextNode => ({ nodeName: '#text', value, parentNode: null })
    expect(equalNodes([text('a'), text(''), text('b')], [text('ab')])).to.equal(true)
    expect(equalNodes([text('')], [])).to.equal(true)
    expect(equalNodes([text('a')], [])).to.equal(false)
    expect(equalNodes([text('a'), text('b')], [text('a')])).to.equal(false)
  })

  it('any change of a text is seen', () => {
    fc.assert(
      fc.property(htmlSoup, fc.nat(), (source, pick) => {
        const document = parseDocument('html', source)
        const copy = cloneTree(document)
        expect(equalTrees(copy.root, document.root)).to.equal(true)
        const texts = nodesOf(copy.root).filter(isText)
        const text = texts[pick % (texts.length || 1)]
        if (!text) return
        text.value += '!'
        expect(equalTrees(copy.root, document.root)).to.equal(false)
      }),
      runs(200),
    )
  })
})
