import { expect } from 'chai'
import { describe, it } from 'mocha'
import { deriving } from '../../../pipeline/declarations/derive.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { LONG } from '../../../pipeline/tree/long-text.ts'
import { copyingPlain, writingPlain } from '../../../pipeline/tree/plain-json.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { NS, type RuleLine, rulesPage } from '../../support/content.ts'

const long = `${'é"\\😀'.repeat(LONG / 4)}\n`
const half = 'x'.repeat(LONG / 2)

describe('tree/plain-json', () => {
  const values: [what: string, value: unknown][] = [
    ['a text that is cut within a character', long],
    ['nothing in a list', [undefined, null, undefined, long]],
    ['long entries one after another', [long, long]],
    ['long entries between short ones', [1, 'a', long, true, long, { b: [] }, 2]],
    ['a long entry first and last', [long, 1, 2, long]],
    ['short entries that are long together', [half, half, half, 1, half, half]],
    ['lists in lists', [[], [[long], [half, half]], [long]]],
    ['members', { a: long, none: undefined, b: { c: [long], d: {} }, '"e"': 1, f: half }],
    ['no member that counts', { a: { none: undefined }, long }],
  ]
  for (const [what, value] of values) {
    it(`is what JSON.stringify gives: ${what}`, () => {
      const text = atOnce(writingPlain(value))
      expect(text === JSON.stringify(value), text.slice(0, 100)).to.equal(true)
    })
    it(`a copy is what JSON.parse gives of it: ${what}`, () => {
      expect(atOnce(copyingPlain(value))).to.deep.equal(JSON.parse(JSON.stringify(value)))
    })
  }

  it('a map is an object, long or short', () => {
    const inner = new Map<string, unknown>([
      ['a', 1],
      ['none', undefined],
    ])
    const map = new Map<string, unknown>([
      ['m', [inner, { inner }, new Map()]],
      ['long', long],
    ])
    const plain = { m: [{ a: 1 }, { inner: { a: 1 } }, {}], long }
    expect(atOnce(writingPlain(map))).to.equal(JSON.stringify(plain))
    expect(atOnce(copyingPlain(map))).to.deep.equal(plain)
  })

  it('a name that objects have by themselves is one of the copy', () => {
    const value: unknown = JSON.parse(`{"__proto__": {"long": ${JSON.stringify(long)}}}`)
    expect(Object.keys(atOnce(copyingPlain(value)) as object)).to.deep.equal(['__proto__'])
  })

  it('SEC-12 HTTP-20 what a document declares is parsed in pieces', () => {
    const rules: RuleLine[] = Array.from({ length: 400 }, (_, i) => ['*', 'GET', 'Allow', `/${i}${'a'.repeat(400)}`])
    const document = parseDocument('html', rulesPage(...rules))
    const { parse } = JSON
    let longest = 0
    JSON.parse = text => {
      longest = Math.max(longest, text.length)
      return parse(text)
    }
    try {
      const { declares } = atOnce(deriving(document, { ns: NS, schemaHost: NS }, true))
      expect(declares.access?.rules).to.have.length(400)
    } finally {
      JSON.parse = parse
    }
    expect(longest).to.be.within(1, LONG)
  })
})
