import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { normalForm } from '../../../pipeline/tree/normal-form.ts'
import { takesLess } from '../../support/cost.ts'

const MARKS: string[] = []
for (let code = 0x300; code < 0x20000; code++) {
  const mark = String.fromCodePoint(code)
  if (/\p{M}/u.test(mark)) MARKS.push(mark)
}

describe('normalization of text', () => {
  const letter = fc.constantFrom('a', 'é', ' ', '\u1100', '\u1161', '\u0915', 'x')
  const mark = fc.nat(MARKS.length - 1).map(at => MARKS[at] ?? '')
  const text = fc.array(fc.oneof({ weight: 1, arbitrary: letter }, { weight: 40, arbitrary: mark }), { maxLength: 300 })

  it('SEC-12 is NFC for any text, with runs of marks of any length up to 1,024', () => {
    fc.assert(
      fc.property(text, parts => normalForm(parts.join('')) === parts.join('').normalize('NFC')),
      { numRuns: 500, seed: 20261122 },
    )
  })

  it('SEC-12 brings 1,024 marks into order and leaves the rest of a run as it is', () => {
    const run = (count: number) => '\u0301'.repeat(count) + '\u0316'.repeat(count)
    expect(normalForm(`b${run(512)}`)).to.equal(`b${run(512)}`.normalize('NFC'))
    const long = normalForm(`b${run(40_000)}c\u0301`)
    expect(long).to.equal(`b${run(40_000)}\u0107`)
  })

  it('SEC-12 takes little time for a text of any script, however its marks are spread', async () => {
    for (const [unit, length] of [
      ['😀', 2_000_000],
      ['한', 2_000_000],
      [`a${'\u0301\u0316'.repeat(20)}`, 300_000],
    ] as const) {
      const text = unit.repeat(length / unit.length)
      await takesLess(25, () => normalForm(text), JSON.stringify(unit))
    }
  })

  it('SEC-12 is NFC for short and long runs of marks, wherever they stand in the text', () => {
    for (const marks of ['\u0301\u0316', '\u{1d16d}\u{1d165}'])
      for (const length of [63, 64, 65, 127, 128, 129, 130, 300])
        for (let before = 0; before < 130; before += 3) {
          const text = `${'x'.repeat(before)}😀a${marks.repeat(length / 2)}\u0316b`
          expect(normalForm(text)).to.equal(text.normalize('NFC'))
        }
  })
})
