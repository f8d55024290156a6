/** Letters and white space of ASCII, beside all other characters. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { asciiLower, asciiUpper, isBlank, trimmed, wordsOf } from '../../../pipeline/tree/ascii.ts'

const CHARACTERS = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const SPACES = ['\t', '\n', '\f', '\r', ' ']

describe('Texts of ASCII', () => {
  it('letters have another case, and no other character has one, alone and beside letters', () => {
    const upper = LOWER.toUpperCase()
    const wrong = CHARACTERS.filter(character => {
      const letter = Math.max(LOWER.indexOf(character), upper.indexOf(character))
      const [small, capital] = letter < 0 ? [character, character] : [LOWER[letter], upper[letter]]
      return asciiLower(`Ab${character}`) !== `ab${small}` || asciiUpper(`Ab${character}`) !== `AB${capital}`
    })
    expect(wrong).to.deep.equal([])
  })

  it('white space is that of HTML', () => {
    expect(CHARACTERS.filter(isBlank)).to.deep.equal(SPACES)
    expect(CHARACTERS.filter(character => trimmed(`${character}x${character}`) === 'x')).to.deep.equal(SPACES)
    expect(CHARACTERS.filter(character => wordsOf(`a${character}b`).length > 1)).to.deep.equal(SPACES)
    expect(wordsOf(' a\t\nb ')).to.deep.equal(['a', 'b'])
    expect(wordsOf('')).to.deep.equal([])
    expect(trimmed(' \f')).to.equal('')
  })
})
