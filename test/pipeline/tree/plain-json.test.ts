import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LONG } from '../../../pipeline/tree/long-text.ts'
import { writingPlain } from '../../../pipeline/tree/plain-json.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'

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
    expect(atOnce(writingPlain(map))).to.equal(JSON.stringify({ m: [{ a: 1 }, { inner: { a: 1 } }, {}], long }))
  })
})
