import { expect } from 'chai'
import { describe, it } from 'mocha'
import { asFault } from '../../pipeline/failures.ts'
import { Fault } from '../../pipeline/fault.ts'
import { Allowance, type AllowanceLimits, AllowanceSpent } from '../../pipeline/language/allowance.ts'
import { StoreError } from '../../pipeline/store/errors.ts'

const SPENDERS: [spent: keyof AllowanceLimits, spend: (allowance: Allowance) => void][] = [
  ['steps', allowance => allowance.step(2)],
  ['memory', allowance => allowance.take(2)],
  ['time', allowance => allowance.look()],
  ['dispatches', allowance => allowance.dispatch()],
]

describe('HTTP-172 spent allowances', () => {
  for (const [spent, spend] of SPENDERS)
    it(`HTTP-172 ${spent} that are spent are 503 BudgetExceeded`, () => {
      let thrown: unknown
      try {
        spend(new Allowance({ steps: 1, memory: 1, time: 0, dispatches: 0 }))
      } catch (error) {
        thrown = error
      }
      expect(thrown).to.be.instanceOf(AllowanceSpent)
      const fault = asFault(thrown)
      expect(fault).to.be.instanceOf(Fault)
      expect(fault).to.include({ status: 503, kind: 'BudgetExceeded' })
    })

  it('a disk without room, or one that takes no writes, is to be tried again', () => {
    for (const reason of ['full', 'unwritable'] as const)
      expect(asFault(new StoreError(reason, 'x')), reason).to.include({ status: 503, kind: 'Unavailable' })
    const failed = new StoreError('failed', 'x')
    expect(asFault(failed), 'nobody knows').to.equal(failed)
  })
})
