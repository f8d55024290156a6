import { expect } from 'chai'
import { describe, it } from 'mocha'
import { firstBroken } from '../../../pipeline/model/integrity.ts'
import { worked } from '../../support/cost.ts'
import { leavesTheLoop } from '../../support/loop-hold.ts'

describe('model/integrity', () => {
  it('MOD-112 others have their turn between questions that a store answers at once', async () => {
    const lookup = async () => {
      for (const end = worked() + 1; worked() < end; );
      return []
    }
    const requirements = Array.from({ length: 150 }, (_, i) => ({
      guard: { any: [[`key ${i}`]], expect: 'none' as const },
      answer: undefined,
    }))
    await leavesTheLoop(async () => {
      expect(await firstBroken({ lookup }, requirements, '/s.html', [])).to.equal(undefined)
    })
  })
})
