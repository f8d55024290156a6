/** Fields that code gives an answer, many of them (SEC-12, REA-50). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Field } from '../../../pipeline/react/header-fields.ts'
import { addFields } from '../../../pipeline/react/thrown.ts'

const MANY = 1_000

describe('Fields that code gives an answer', () => {
  it('SEC-12 a field with many values is not copied for each of them', () => {
    let repeated: readonly Field[] | undefined
    let copied = 0
    const answer: Answer = {
      status: 200,
      headers: {},
      get repeated() {
        return repeated
      },
      set repeated(given: readonly Field[] | undefined) {
        repeated = given
        copied += given?.length ?? 0
      },
    }
    addFields(
      answer,
      Array.from({ length: MANY }, (_, i): Field => ['x-a', String(i)]),
    )
    expect(repeated).to.have.length(MANY - 1)
    expect(copied).to.be.below(2 * MANY)
  })
})
