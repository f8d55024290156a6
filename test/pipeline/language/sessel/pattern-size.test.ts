import { expect } from 'chai'
import fc from 'fast-check'
import { RE2JS, RE2JSException } from 're2js'
import { patternSize } from '../../../../pipeline/language/sessel/pattern-size.ts'

const piece = fc.constantFrom(
  'a',
  'é',
  '.',
  '|',
  '(',
  '(?:',
  ')',
  '*',
  '+?',
  '?',
  '{3}',
  '{0,7}',
  '{2,}',
  '{',
  '[ab]',
  '[^])(]',
  '[[:alpha:])]',
  '\\)',
  '\\(',
  '\\[',
  '\\pL',
  '\\x{41}',
  '\\Q({9})\\E',
  '^',
  '$',
)

describe('Sizes of patterns', () => {
  it('SES-76 SES-213 a pattern is never larger than it is taken for', () => {
    let compiled = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), pieces => {
        const pattern = pieces.join('')
        let size: number
        try {
          size = RE2JS.compile(pattern).programSize()
        } catch (error) {
          if (!(error instanceof RE2JSException)) throw error
          return
        }
        compiled++
        expect(patternSize(pattern), pattern).to.be.at.least(size)
      }),
      { numRuns: 3_000 },
    )
    expect(compiled).to.be.greaterThan(500)
  })

  for (const [pattern, most] of [
    ['^[a-z]+@[a-z.]+$', 20],
    ['\\d{4}-\\d{2}-\\d{2}', 40],
    ['\\x{1000}', 4],
    ['[{1000}]', 4],
  ] as const)
    it(`SES-76 nor much smaller: ${pattern}`, () => {
      expect(patternSize(pattern)).to.be.at.most(most)
    })
})
