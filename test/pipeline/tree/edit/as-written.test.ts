import { expect } from 'chai'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { EditError, edit } from '../../../../pipeline/tree/edit/edit.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { command } from './command.ts'

const INCLUDE = '<p:include selector="#x" />'

describe('COMP-6, COMP-86 an edit takes, leaves and brings directives where they are written', () => {
  const CASES: [place: string, body: string, line: string, expected: string, inserted?: string][] = [
    ['a table', `<table id=t><tr><td>1</td></tr>${INCLUDE}</table>`, 'remove t', ''],
    ['a row group', `<table><tbody id=t><tr><td>1</td></tr>${INCLUDE}</tbody></table>`, 'remove t', '<table></table>'],
    [
      'a row',
      `<table><tbody><tr id=t><td>1</td>${INCLUDE}</tr></tbody></table>`,
      'remove t',
      '<table><tbody></tbody></table>',
    ],
    [
      'the only row of a group without tags',
      `<table><tr id=t>${INCLUDE}</table>`,
      'remove t',
      '<table><tbody></tbody></table>',
    ],
    [
      'a row group',
      `<table><tbody id=t><tr><td>1</td></tr>${INCLUDE}</tbody></table>`,
      'replace t <tbody id=t><tr><td>2</td></tr></tbody>',
      '<table><tbody id=t><tr><td>2</td></tr></tbody></table>',
      '<tbody id="t"><tr><td>2</td></tr></tbody>',
    ],
    [
      'a row group that is written with its directive again',
      `<table><tbody id=t><tr><td>1</td></tr>${INCLUDE}</tbody></table>`,
      `replace t <tbody id=t><tr><td>2</td></tr>${INCLUDE}</tbody>`,
      `<table><tbody id=t><tr><td>2</td></tr>${INCLUDE}</tbody></table>`,
      '<tbody id="t"><tr><td>2</td></tr><p:include selector="#x"></p:include></tbody>',
    ],
  ]
  const ROWS = '<table><tbody id=b><tr><td>1</td></tr></tbody></table>'
  CASES.push(
    [
      'a row that comes',
      ROWS,
      `append b <tr><td>2</td>${INCLUDE}</tr>`,
      `<table><tbody id=b><tr><td>1</td></tr><tr><td>2</td>${INCLUDE}</tr></tbody></table>`,
      '<tr><td>2</td><p:include selector="#x"></p:include></tr>',
    ],
    [
      'a row group that comes for one without',
      ROWS,
      `replace b <tbody id=b>${INCLUDE}</tbody>`,
      `<table><tbody id=b>${INCLUDE}</tbody></table>`,
      '<tbody id="b"><p:include selector="#x"></p:include></tbody>',
    ],
    [
      'a table that moves',
      `<table id=t><tr><td>1</td>${INCLUDE}</table><div id=d>d</div>`,
      'move t append d',
      `<div id=d>d<table id=t><tr><td>1</td>${INCLUDE}</table></div>`,
      '<table id="t"><tbody><tr><td>1</td><p:include selector="#x"></p:include></tr></tbody></table>',
    ],
  )
  for (const [place, body, line, expected, inserted = ''] of CASES) {
    it(`${place}: ${line}`, () => {
      const page = (content: string) => `<!doctype html><html xmlns:p="urn:v"><body CLASS=z>\n${content}\n<p>y`
      const document = parseDocument('html', page(body))
      const proposed = edit(document, command(document, line))
      expect(proposed.source).to.equal(page(expected))
      expect(proposed.inserted).to.equal(inserted)
      expect(atOnce(proposed.accepting())).to.deep.include({ source: page(expected) })
    })
  }

  // To the standard everything behind a tag that closes itself stands in the element.
  const SOUP: [name: string, body: string][] = [
    ['behind a directive that closes itself', `${INCLUDE}<p>rest</p><p><b id=t>x</p><p>y</p>`],
    ['beside a directive in a table', `<table><tr>${INCLUDE}<td>1</table><p><b id=t>x</p><p>y</p>`],
  ]
  for (const [name, body] of SOUP) {
    it(`HTTP-24 tag soup is not written anew ${name}: it would take in the rest, or move`, () => {
      const document = parseDocument('html', `<!doctype html><html xmlns:p="urn:v"><body CLASS=z>\n${body}`)
      expect(() => edit(document, command(document, 'remove t'))).to.throw(EditError, 'directives')
    })
  }

  it('a prefix that is not bound means nothing: what stands outside of the table stays', () => {
    const document = parseDocument('html', `<body><table id=t>${INCLUDE}<tr><td>1</td></tr></table>`)
    expect(edit(document, command(document, 'remove t')).source).to.include('p:include')
  })
})
