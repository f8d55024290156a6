import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { shortName } from '../../../pipeline/tree/tokens.ts'
import { runs } from './samples.ts'

describe('tree/tokens: names', () => {
  it('HTTP-23 a name is its stretch of the text in lower case, whatever names came before', () => {
    const letter = fc.constantFrom(
      'a',
      'B',
      'z',
      'Z',
      '@',
      '[',
      '`',
      '{',
      '-',
      ':',
      '0',
      '\0',
      'é',
      'É',
      'İ',
      'K',
      'Σ',
      '😀',
    )
    const text = fc.array(letter, { maxLength: 40 }).map(letters => letters.join(''))
    fc.assert(
      fc.property(text, fc.nat(40), fc.nat(40), (source, one, other) => {
        const [start, end] = [Math.min(one, other, source.length), Math.min(Math.max(one, other), source.length)]
        expect(shortName(source, start, end)).to.equal(source.slice(start, end).toLowerCase())
      }),
      runs(2_000),
    )
  })

  it('HTTP-23 names that share a place do not stand for each other', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `Data-${i}`)
    for (const name of [...names, ...names])
      expect(shortName(`<${name}>`, 1, name.length + 1)).to.equal(name.toLowerCase())
  })
})
