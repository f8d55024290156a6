import { expect } from 'chai'
import fc from 'fast-check'
import { RE2JS, RE2JSException } from 're2js'
import { classWork, patternSize } from '../../../../pipeline/language/sessel/pattern-size.ts'
import { compile, evaluate } from '../../../../pipeline/language/sessel/sessel.ts'
import { unhurried } from '../../../support/unhurried.ts'
import { became, hostFor } from './site.ts'

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

  const ALL = 'B-\\x{1e942}'
  const RAW = 'B-\u{1e942}'
  const LARGE = [
    `(?i)[${RAW.repeat(240)}]`,
    `(?i)[-${RAW.repeat(240)}]`,
    `(?i)[A-${RAW.repeat(240)}]`,
    `(?i)[${ALL.repeat(80)}]`,
    `\\Q-\\x{}\\E(?i)[${RAW.repeat(230)}]`,
    `(?i)${`[^${RAW}]`.repeat(140)}`,
    `x(?s-m:(?mi:${`[${ALL}]`.repeat(70)}))`,
    `(?i)${'[\\x{42}-\\x{10fffe}]'.repeat(45)}`,
    `[${'\\PL'.repeat(320)}]`,
  ]
  for (const pattern of LARGE)
    it(`SES-76 SEC-12 classes that take long to make are refused: ${pattern.slice(0, 24)}`, async () => {
      const allowance = unhurried()
      const outcome = await evaluate(compile(`"x".matches(${JSON.stringify(pattern)})`), hostFor(), allowance)
      expect('failure' in outcome && outcome.failure.message).to.include('has too large classes to be a pattern')
    })

  const USUAL: [pattern: string, most: number][] = [
    ['(?i)^[a-zà-ÿ0-9 _.-]+$', 200],
    ['(?i)[а-яё]+', 200],
    ['(?i)[^\\x{80}-\\x{10ffff}]', 130_000],
    ['\\p{L}+(?: \\p{L}+)*', 10_000],
    ['[B-\\x{1e942}]', 0],
  ]
  for (const [pattern, most] of USUAL)
    it(`SES-76 usual classes are not: ${pattern}`, async () => {
      expect(classWork(pattern)).to.be.at.most(most)
      expect(await became(`"x".matches(${JSON.stringify(pattern)})`)).to.match(/^(?:true|false)$/)
    })

  it('SES-213 what it takes to make classes counts', async () => {
    const allowance = unhurried()
    await evaluate(compile(`"x".matches("(?i)[${RAW.repeat(7)}]")`), hostFor(), allowance)
    expect(allowance.stepsTaken).to.be.greaterThan(20_000)
  })
})
