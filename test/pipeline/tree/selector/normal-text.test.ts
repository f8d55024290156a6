import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { normalForm } from '../../../../pipeline/tree/normal-form.ts'
import { BOUNDARY, normalized, TextWriter } from '../../../../pipeline/tree/selector/normal-text.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../../support/steps.ts'

/** Letters, marks that compose and reorder, Hangul that composes, and white space. */
const CHARACTERS = [
  'a',
  'e',
  ' ',
  '\n',
  'é',
  '\u0301',
  '\u0316',
  '\u0323',
  '\u1100',
  '\u1161',
  '\u11a8',
  '가',
  '中',
  'Я',
  '😀',
]
const words = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 }).map(characters => characters.join(''))

describe('texts of elements, put together of parts', () => {
  it('COMP-134 SEC-12 a long text is normalized in pieces, to the same as at once', () => {
    const texts = fc.tuple(words, words, fc.integer({ min: 1000, max: 9000 }))
    fc.assert(
      fc.property(texts, ([first, second, times]) => {
        const text = (first + second).repeat(times)
        const writer = new TextWriter()
        writer.write(text)
        let steps = 0
        for (const _ of writer.writing()) steps++
        writer.endPart()
        expect(writer.text.trimEnd()).to.equal(normalized(text))
        if (/[a-z中Я😀]/u.test(text) && first.length + second.length < 100)
          expect(steps).to.be.at.least(Math.floor(text.length / (16 * 1024 + 100)) - 1)
      }),
      { numRuns: 100 },
    )
  })

  it('SEC-12 a long text of any script is normalized in steps', () => {
    for (const letter of ['ا', 'क', 'ก', 'ᄀ', '한', '𝐀', '😀', '\ud83d']) {
      const writer = new TextWriter()
      writer.write(letter.repeat(64 * 1024))
      expect(stepsOf(writer.writing()), letter).to.be.at.least(3)
    }
  })

  it('SEC-12 a long text that cannot be cut is looked through in steps', () => {
    for (const mark of ['\u0301', '\u1161', '\u{1d165}']) {
      const writer = new TextWriter()
      const text = `😀${mark.repeat(64 * 1024)}`
      writer.write(text)
      expect(stepsOf(writer.writing()), mark).to.be.at.least(3)
      writer.endPart()
      expect(writer.text, mark).to.equal(normalized(text))
    }
  })

  it('SEC-12 many texts that cannot be cut are not looked through again with each', () => {
    const writer = new TextWriter()
    let looked = 0
    for (let i = 0; i < 100_000; i++)
      if (writer.write('\u0301')) {
        looked++
        atOnce(writer.writing())
      }
    expect(looked).to.be.within(1, 5)
  })

  it('COMP-134 no character that is a boundary is composed with one before it', () => {
    const decompositions = new Map<string, string[]>()
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      const parts = character.normalize('NFD')
      if (parts !== character) decompositions.set(character, Array.from(parts))
    }
    const composed = new Set(Array.from(decompositions.values()).flatMap(([, ...others]) => others))
    const isBoundary = (character: string) => character.search(BOUNDARY) === 0
    const firsts = [...decompositions].flatMap(([character, [first = '']]) => (isBoundary(character) ? first : []))
    expect([...composed, ...firsts.filter(each => composed.has(each))].filter(isBoundary)).to.deep.equal([])
    expect(firsts.filter(first => /\p{M}/u.test(first))).to.deep.equal([])
  })

  it('COMP-134 whether parts are together what the whole is, is told at their seams', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 6 }), parts => {
        const writer = new TextWriter()
        for (const part of parts) {
          writer.write(part)
          writer.endPart()
        }
        expect(writer.isNormal).to.equal(normalForm(writer.text) === writer.text)
      }),
      { numRuns: 1000 },
    )
  })
})
