import { expect } from 'chai'
import { describe, it } from 'mocha'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { rateLimitsContract } from './rate-limits-contract.ts'

describe('rateLimits of a single process', () => {
  rateLimitsContract(async () => localRateLimits())

  it('forget a count when nothing was added to it for its life', async () => {
    let now = 1_000_000
    const rateLimits = localRateLimits(() => now)
    await rateLimits.add(['a'], 1000)
    now += 1000
    await rateLimits.add(['a'], 1000)
    now += 1000
    expect(await rateLimits.counts(['a'])).to.deep.equal([2])
    now += 1
    expect(await rateLimits.counts(['a'])).to.deep.equal([0])
    await rateLimits.add(['a'], 1000)
    expect(await rateLimits.counts(['a']), 'nothing is added to it').to.deep.equal([1])
  })

  it('hold a bounded number: those that were added to longest ago go first', async () => {
    const rateLimits = localRateLimits(() => 0)
    for (const key of ['first', 'second']) await rateLimits.add([key], 1000)
    for (let i = 0; i < 9_998; i++) await rateLimits.add([`${i}`], 1000)
    await rateLimits.add(['first'], 1000)
    expect(await rateLimits.counts(['first', 'second'])).to.deep.equal([2, 1])
    await rateLimits.add(['one more'], 1000)
    expect(await rateLimits.counts(['first', 'second'])).to.deep.equal([2, 0])
  })
})
