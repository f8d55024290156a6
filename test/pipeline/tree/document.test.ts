import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { decode, encode, parseDocument, TreeError } from '../../../pipeline/tree/document.ts'
import { rootElement } from '../../../pipeline/tree/nodes.ts'
import { runs } from './samples.ts'

const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list)

describe('tree/document', () => {
  describe('HTTP-23, HTTP-25 bytes and text', () => {
    const cases: [what: string, input: Uint8Array, text: string, bom: boolean, utf8: boolean][] = [
      ['nothing', bytes(), '', false, true],
      ['ASCII', bytes(0x61, 0x0d, 0x0a), 'a\r\n', false, true],
      ['a byte order mark is dropped', bytes(0xef, 0xbb, 0xbf, 0x61), 'a', true, true],
      ['a byte order mark alone', bytes(0xef, 0xbb, 0xbf), '', true, true],
      ['only the first byte order mark', bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf), '\ufeff', true, true],
      ['astral', bytes(0xf0, 0x9f, 0x98, 0x80), '😀', false, true],
      ['NUL', bytes(0x61, 0, 0x62), 'a\0b', false, true],
      ['Latin-1', bytes(0x63, 0xe9), 'c\ufffd', false, false],
      ['a cut sequence', bytes(0xf0, 0x9f, 0x98), '\ufffd', false, false],
      ['an overlong form', bytes(0xc0, 0x80), '\ufffd\ufffd', false, false],
      ['a surrogate', bytes(0xed, 0xa0, 0x80), '\ufffd\ufffd\ufffd', false, false],
      ['beyond Unicode', bytes(0xf4, 0x90, 0x80, 0x80), '\ufffd\ufffd\ufffd\ufffd', false, false],
      ['UTF-16', bytes(0xff, 0xfe, 0x61, 0x00), '\ufffd\ufffda\0', false, false],
    ]
    for (const [what, input, text, bom, utf8] of cases)
      it(what, () => expect(decode(input)).to.deep.equal({ text, bom, utf8 }))

    it('valid bytes come back as they were', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, bom) => {
          const stored = Buffer.from(bom ? `\ufeff${text}` : text)
          const read = decode(stored)
          expect(read.utf8).to.equal(true)
          expect(Buffer.compare(encode(read.text, read.bom), stored)).to.equal(0)
        }),
        runs(300),
      )
    })

    it('bytes that do not come back are told', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 12 }), input => {
          const read = decode(input)
          expect(Buffer.compare(encode(read.text, read.bom), input) === 0).to.equal(read.utf8)
        }),
        runs(1000),
      )
    })
  })

  it('HTTP-23 kinds are parsed by their own rules', () => {
    expect(rootElement(parseDocument('html', '<P>'))?.tagName).to.equal('html')
    expect(rootElement(parseDocument('xml', '<P/>'))?.tagName).to.equal('P')
    expect(() => parseDocument('xml', '<P>')).to.throw(TreeError)
  })

  it('keeps the source', () => {
    const document = parseDocument('html', 'a\r\n')
    expect([document.kind, document.source]).to.deep.equal(['html', 'a\r\n'])
  })
})
