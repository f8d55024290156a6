/** Forms that are read as a whole, in steps. */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { readingForm } from '../../../pipeline/http/form.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'

const URLENCODED = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=b'

function fieldsOf(type: string, body: string | Buffer): [string, string[]][] {
  const fields = atOnce(readingForm(type, Buffer.from(body)))
  return [...(fields ?? [])].map(([name, values]) => [name, [...values]])
}

/** What the URL standard reads in a body. */
function expected(body: string): [string, string[]][] {
  const fields = new Map<string, string[]>()
  // Node's own reader takes other characters for bytes where escapes stand beside them.
  const escaped = body.replace(/[^\0-\x7f]+/g, encodeURIComponent)
  // A question mark at the start belongs to a query there, and to a name in a form.
  for (const [name, value] of new URLSearchParams(`?${escaped}`)) fields.set(name, [...(fields.get(name) ?? []), value])
  return [...fields]
}

const part = (head: string, content: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`

describe('forms', () => {
  it('COMP-22 a form is read as the URL standard reads it', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('a', 'Ж', '😀', '\ufeff', '&', '=', '+', '%', '%4', '%41', '%D0%96', '%ff', '%zz', '?'),
        ),
        pieces => {
          expect(fieldsOf(URLENCODED, pieces.join(''))).to.deep.equal(expected(pieces.join('')))
        },
      ),
    ))

  it('COMP-22 of a form with files the texts are read', () => {
    const long = `name="long"; x="${'x'.repeat(9000)}"`
    const body = [
      part('name="a"', '1'),
      part('name="a"', 'Ж\r\n2'),
      part('name="f"; filename="f"', 'x'),
      part(long, '3'),
      part('x=y', '4'),
      '--b--',
    ]
    expect(fieldsOf(MULTIPART, body.join(''))).to.deep.equal([['a', ['1', 'Ж\r\n2']]])
  })

  it('COMP-22 fields behind the ten thousandth are left out', () => {
    const names = Array.from({ length: 10_002 }, (_, i) => `n${i}`)
    expect(fieldsOf(URLENCODED, names.join('&'))).to.have.length(10_000)
    const parts = names.map(name => part(`name="${name}"`, ''))
    expect(fieldsOf(MULTIPART, `${parts.join('')}--b--`)).to.have.length(10_000)
  })

  it('COMP-22 other bodies are no forms', () => {
    expect(atOnce(readingForm('text/plain', Buffer.from('a=1')))).to.equal(undefined)
    expect(atOnce(readingForm(undefined, Buffer.from('a=1')))).to.equal(undefined)
  })

  const MEGABYTE = 1024 * 1024
  const long: [what: string, type: string, body: string][] = [
    ['blanks', URLENCODED, `a=${'+'.repeat(8 * MEGABYTE)}`],
    ['escapes', URLENCODED, `a=${'%D0%96'.repeat(MEGABYTE)}`],
    ['one text', URLENCODED, `a=${'Ж'.repeat(8 * MEGABYTE)}`],
    ['nothing but separators', URLENCODED, '&'.repeat(8 * MEGABYTE)],
    ['fields', URLENCODED, 'a=1&'.repeat(10_000)],
    ['a text part', MULTIPART, `${part('name="a"', 'Ж'.repeat(8 * MEGABYTE))}--b--`],
    ['parts', MULTIPART, `${part('name="a"', '1').repeat(10_000)}--b--`],
  ]
  for (const [what, type, body] of long)
    it(`SEC-4 a form of ${what} is read in steps`, () => {
      expect(stepsOf(readingForm(type, Buffer.from(body)))).to.be.at.least(8)
    })
})
