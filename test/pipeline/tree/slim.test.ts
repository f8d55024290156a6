import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { edit } from '../../../pipeline/tree/edit/edit.ts'
import { parseHtml } from '../../../pipeline/tree/html.ts'
import { outerMarkup } from '../../../pipeline/tree/serialize.ts'
import { slimming } from '../../../pipeline/tree/slim.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { treeBytes } from '../../../pipeline/tree/weight.ts'
import { page } from '../../support/content.ts'
import { elementsOf, htmlSoup, runs } from './samples.ts'

describe('tree/slim', () => {
  it('HTTP-23 changes nothing of a tree', () => {
    const long = fc.tuple(
      htmlSoup,
      fc.constantFrom('a longer text', 'with &amp; in it ', 'a\r\nlonger\r\ntext\0'),
      htmlSoup,
    )
    fc.assert(
      fc.property(long, parts => {
        const source = parts.join('')
        const root = parseHtml(source)
        atOnce(slimming(root, source))
        expect(root).to.deep.equal(parseHtml(source))
      }),
      runs(500),
    )
  })

  it('HTTP-23 changes nothing of long texts and comments', () => {
    const length = 70_000
    const piece = fc.constantFrom(
      'a ',
      '\r\n',
      '\r',
      '\0',
      '&amp;',
      '&',
      '<',
      '<b></b>',
      '--!',
      'é',
      '\u{1f375}',
      '\ud83c',
    )
    const around = fc.constantFrom(
      '',
      '<p>',
      '<!--',
      '<table>',
      '<svg>',
      '<svg><![CDATA[',
      '<pre>',
      '<script>',
      '<!',
      '<?',
      '<textarea>',
    )
    fc.assert(
      fc.property(
        around,
        piece,
        piece,
        fc.constantFrom('', '-->', ']]>', '</script>', '</body> ', '--!>'),
        (begin, one, other, end) => {
          const source = `${begin}${one.repeat(3)}${other.repeat(length / other.length)}${one}${end}x`
          const root = parseHtml(source)
          atOnce(slimming(root, source))
          expect(root).to.deep.equal(parseHtml(source))
        },
      ),
      runs(40),
    )
  })

  it('HTTP-23 a text that begins with a reference keeps it, wherever the parser says that it begins', () => {
    for (const length of [31, 70_000]) {
      const { root } = parseDocument('html', `\n\n&amp;${']'.repeat(length)}`)
      expect(outerMarkup(root, 'html')).to.equal(`<html><head></head><body>&amp;${']'.repeat(length)}</body></html>`)
    }
  })

  it('HTTP-23 a tree that was made lighter can be changed like any other', () => {
    const { root } = parseDocument('html', '<p class=a>x</p><p class=a>y</p>')
    const [html] = root.childNodes
    if (!html || !('childNodes' in html)) throw new Error('no html')
    html.childNodes.push({ nodeName: '#comment', data: 'x', parentNode: html })
    expect(html.childNodes).to.have.length(3)
  })
})

describe('tree/weight', () => {
  it('grows with elements and attributes, whatever the length of the text', () => {
    const weigh = (source: string) => treeBytes(parseDocument('html', source))
    const plain = weigh('x'.repeat(1000))
    expect(plain).to.be.within(1000, 4000)
    expect(weigh('<p>'.repeat(300)) - plain).to.be.greaterThan(300 * 200)
    expect(weigh('<p id=a>'.repeat(300))).to.be.greaterThan(weigh('<p>'.repeat(300)) + 300 * 50)
    expect(weigh(`<template>${'<p>'.repeat(300)}</template>`)).to.be.greaterThan(300 * 200)
  })

  it('HTTP-183 follows edits in place, also where the text becomes no longer', () => {
    const document = parseDocument('html', page(`<p>${'x'.repeat(10_000)}</p>`))
    const before = treeBytes(document)
    const [target] = elementsOf(document.root).filter(({ tagName }) => tagName === 'p')
    if (!target) throw new Error('there is a p')
    const text = `<p>${'<b></b>'.repeat(1400)}</p>`
    const after = atOnce(edit(document, { op: 'replace', target, text }).accepting())
    expect(after).to.equal(document)
    expect(treeBytes(after)).to.equal(treeBytes(parseDocument('html', after.source)))
    expect(treeBytes(after) / before).to.be.greaterThan(20)
  })

  it('HTTP-183 a little page with a long text weighs little more than the text, also where that was put in later', () => {
    const document = parseDocument('html', '<ul id=l><li id=a>x</li><li id=b>y</li></ul>')
    treeBytes(document)
    document.source = document.source.replace('x', 'x'.repeat(1_000_000))
    expect(treeBytes(document)).to.be.within(1_000_000, 1_100_000)
  })
})
