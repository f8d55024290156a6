import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { tagWord } from '../../../pipeline/tree/tag-words.ts'
import { runs } from './samples.ts'

describe('tree/tag-words', () => {
  it('HTTP-23 a word is its stretch of the text with letters of ASCII in lower case, whatever words came before', () => {
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
      fc.property(text, text, text, (before, word, after) => {
        const start = Buffer.byteLength(before)
        const end = start + Buffer.byteLength(word)
        expect(tagWord(Buffer.from(before + word + after), start, end).text).to.equal(
          word.replace(/[A-Z]/g, each => each.toLowerCase()),
        )
      }),
      runs(2_000),
    )
  })

  it('HTTP-23 words that share a place do not stand for each other', () => {
    const names = Array.from({ length: 4_000 }, (_, i) => `Data-${i}`)
    for (const name of [...names, ...names])
      expect(tagWord(Buffer.from(`<${name}>`), 1, name.length + 1).text).to.equal(name.toLowerCase())
  })
})
