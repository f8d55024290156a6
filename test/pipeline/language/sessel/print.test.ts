import { expect } from 'chai'
import fc from 'fast-check'
import { parse } from '../../../../pipeline/language/sessel/parse.ts'
import { casesIn, tables } from './cases.ts'
import { print } from './print.ts'
import { became, hostFor } from './site.ts'
import { anyProgram } from './trees.ts'

/** Outcomes that differ from one evaluation to the next. */
const FLEETING = /random|uuid|now|bcrypt|argon2|timestamp/i

/** A program without the spelling of embedded values, where only their meaning counts. */
function meaning(program: unknown): string {
  return JSON.stringify(program, function (key: string, value: unknown) {
    const isSpelling = key === 'text' && 'expression' in this && this.expression && this.names.length === 0
    return isSpelling ? undefined : typeof value === 'bigint' ? `${value}n` : value
  })
}

describe('Sessel: what is parsed can be printed', () => {
  for (const isBracketed of [false, true])
    it(`SES-20 SES-21 a printed tree is read as the same tree${isBracketed ? ', with all brackets' : ''}`, () => {
      fc.assert(
        fc.property(anyProgram, program => {
          const text = print(program, { isBracketed })
          expect(meaning(parse(text)), text).to.equal(meaning(program))
        }),
        { numRuns: 1_500 },
      )
    })

  for (const file of tables())
    it(`SES-20 printed programs are what they were, and do what they did: ${file.replace(/\.txt$/, '')}`, async () => {
      let printed = 0
      for (const { program, self } of casesIn(file)) {
        const before = await became(program, hostFor(self))
        if (before.startsWith('!parse')) continue
        const text = print(parse(program))
        expect(meaning(parse(text)), text).to.equal(meaning(parse(program)))
        if (!FLEETING.test(program)) expect(await became(text, hostFor(self)), `${program}\n${text}`).to.equal(before)
        printed++
      }
      expect(printed).to.be.greaterThan(5)
    })
})
