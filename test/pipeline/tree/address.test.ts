import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { escapeIdentifier, indexingAddresses, uniqueSelector } from '../../../pipeline/tree/address.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { DocumentKind, ElementNode } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { takesLess } from '../../support/cost.ts'
import { elementsOf, htmlSoup, runs, tidyHtml, xmlDocument } from './samples.ts'

/** Addresses of all elements. */
function addresses(kind: DocumentKind, source: string): string[] {
  const document = parseDocument(kind, source)
  const index = atOnce(indexingAddresses(document))
  return elementsOf(document.root).map(element => uniqueSelector(element, document, index))
}

describe('tree/address', () => {
  it('HTTP-67 the id where it is unique, else steps from the nearest unique id or from html', () => {
    const source = '<!doctype html><ul><li>a<li id=x>b<i></i><b id=y></b></ul><p id=y><b></b></p><p id=Y></p>'
    expect(addresses('html', source)).to.deep.equal([
      'html',
      'html > head:nth-child(1)',
      'html > body:nth-child(2)',
      'html > body:nth-child(2) > ul:nth-child(1)',
      'html > body:nth-child(2) > ul:nth-child(1) > li:nth-child(1)',
      '#x',
      '#x > i:nth-child(1)',
      '#x > b:nth-child(2)',
      'html > body:nth-child(2) > p:nth-child(2)',
      'html > body:nth-child(2) > p:nth-child(2) > b:nth-child(1)',
      '#Y',
    ])
  })

  it('in quirks mode ids that differ in case are not unique', () => {
    expect(addresses('html', '<p id=y></p><p id=Y></p><p id=z></p>').slice(3)).to.deep.equal([
      'html > body:nth-child(2) > p:nth-child(1)',
      'html > body:nth-child(2) > p:nth-child(2)',
      '#z',
    ])
  })

  it('ids in templates do not count, nor does an empty one', () => {
    const source = '<!doctype html><body><template><p id=x></p></template><p id=x></p><p id></p>'
    expect(
      addresses('html', source).filter(selector => selector.includes('p:') || selector.startsWith('#')),
    ).to.include('#x')
    expect(addresses('html', source).at(-1)).to.equal('html > body:nth-child(2) > p:nth-child(3)')
  })

  it('text and comments are no siblings', () => {
    expect(addresses('html', '<div>a<!--b--><i></i>c<b></b></div>').slice(-2)).to.deep.equal([
      'html > body:nth-child(2) > div:nth-child(1) > i:nth-child(1)',
      'html > body:nth-child(2) > div:nth-child(1) > b:nth-child(2)',
    ])
  })

  it('names and ids are escaped', () => {
    expect(addresses('html', '<!doctype html><o:p id="a b"></o:p><o:p><x.y></x.y></o:p>').slice(3)).to.deep.equal([
      '#a\\ b',
      'html > body:nth-child(2) > o\\:p:nth-child(2)',
      'html > body:nth-child(2) > o\\:p:nth-child(2) > x\\.y:nth-child(1)',
    ])
  })

  it('the document element is told from others of its name', () => {
    expect(addresses('html', '<!doctype html><svg><html></html></svg>')).to.deep.equal([
      'html:root',
      'html:root > head:nth-child(1)',
      'html:root > body:nth-child(2)',
      'html:root > body:nth-child(2) > svg:nth-child(1)',
      'html:root > body:nth-child(2) > svg:nth-child(1) > html:nth-child(1)',
    ])
  })

  it('XML: prefixes stand for any namespace', () => {
    expect(addresses('xml', '<p:a xmlns:p="u"><b/></p:a>')).to.deep.equal(['*|a', '*|a > b:nth-child(1)'])
    expect(addresses('xml', '<f:feed xmlns:f="u"><feed><f:e/><e.x id="i"/></feed></f:feed>')).to.deep.equal([
      '*|feed:root',
      '*|feed:root > feed:nth-child(1)',
      '*|feed:root > feed:nth-child(1) > *|e:nth-child(1)',
      '#i',
    ])
  })

  it('CSSOM identifiers', () => {
    const cases: [name: string, expected: string][] = [
      ['a', 'a'],
      ['-', '\\-'],
      ['--', '--'],
      ['-a', '-a'],
      ['1a', '\\31 a'],
      ['-1a', '-\\31 a'],
      ['--1', '--1'],
      ['a1', 'a1'],
      ['\0', '\ufffd'],
      ['a\0', 'a\ufffd'],
      ['\n', '\\a '],
      ['\x7f', '\\7f '],
      ['a b', 'a\\ b'],
      ['a\\b', 'a\\\\b'],
      ['\\31 ', '\\\\31\\ '],
      ['a.b:c#d', 'a\\.b\\:c\\#d'],
      ['é😀_-', 'é😀_-'],
      ['\u00a0', '\u00a0'],
    ]
    for (const [name, expected] of cases) expect(escapeIdentifier(name), JSON.stringify(name)).to.equal(expected)
  })

  it('addresses of a document differ from each other', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('<p>', '</p>', '<div id=a>', '<div id=b>', '</div>', '<ul><li>', '</ul>', '<b>x</b>'),
          { maxLength: 40 },
        ),
        parts => {
          const all = addresses('html', `<!doctype html>${parts.join('')}`)
          expect(new Set(all).size).to.equal(all.length)
        },
      ),
      runs(200),
    )
  })

  it('in whatever order elements are asked about, their addresses are the same', () => {
    fc.assert(
      fc.property(htmlSoup, fc.infiniteStream(fc.nat()), (source, order) => {
        const document = parseDocument('html', source)
        const elements = elementsOf(document.root)
        const shared = atOnce(indexingAddresses(document))
        for (const place of order.take(20)) {
          const element = elements[place % elements.length]
          if (element) expect(uniqueSelector(element, document, shared)).to.equal(uniqueSelector(element, document))
        }
      }),
      runs(100),
    )
  })

  it('HTTP-67 an address finds exactly its element', () => {
    const check = (kind: DocumentKind, source: string): void => {
      const document = parseDocument(kind, source)
      const index = atOnce(indexingAddresses(document))
      for (const element of selectAll(compileSelector('*'), document)) {
        const address = uniqueSelector(element, document, index)
        expect(selectAll(compileSelector(address), document), address).to.deep.equal([element])
      }
    }
    const odd = fc.constantFrom(
      'id="1 a"',
      'id="-"',
      'id="\\31"',
      'id="é😀"',
      'id="a&#10;b"',
      'id="A"',
      'id="a"',
      'id=""',
      'id="a.b"',
    )
    const marked = (markup: fc.Arbitrary<string>) =>
      fc.tuple(markup, odd).map(([source, id]) => source.replace(/ (?:class|k)="[^"]*"/g, ` ${id}`))
    fc.assert(
      fc.property(marked(htmlSoup), source => check('html', source)),
      runs(150),
    )
    fc.assert(
      fc.property(marked(tidyHtml), source => check('html', source)),
      runs(50),
    )
    fc.assert(
      fc.property(marked(xmlDocument.map(source => source.replace(/ id="[^"]*"/g, ''))), source =>
        check('xml', source),
      ),
      runs(150),
    )
  })

  it('takes linear time for all elements of a document', () => {
    const document = parseDocument('html', `<!doctype html><ul>${'<li><b></b></li>'.repeat(20_000)}</ul>`)
    const index = atOnce(indexingAddresses(document))
    const all: ElementNode[] = elementsOf(document.root)
    return takesLess(1500, () => {
      for (const element of all) uniqueSelector(element, document, index)
    })
  })
})
