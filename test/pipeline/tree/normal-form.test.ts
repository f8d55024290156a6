import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { normalForm } from '../../../pipeline/tree/normal-form.ts'

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
})
