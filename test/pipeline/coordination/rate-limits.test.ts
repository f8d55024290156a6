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
    expect(await rateLimits.add(['a'], 1000)).to.deep.equal([3])
    now += 1001
    expect(await rateLimits.add(['a'], 1000), 'nothing is added to it').to.deep.equal([1])
  })

  it('what is taken back makes no count live longer', async () => {
    let now = 1_000_000
    const rateLimits = localRateLimits(() => now)
    for (let i = 0; i < 3; i++) await rateLimits.add(['a'], 1000)
    now += 900
    await rateLimits.takeBack(['a'])
    now += 101
    expect(await rateLimits.add(['a'], 1000)).to.deep.equal([1])
  })

  it('hold a bounded number: those that were added to longest ago go first', async () => {
    const rateLimits = localRateLimits(() => 0)
    for (const key of ['first', 'second', 'third']) await rateLimits.add([key], 1000)
    for (let i = 0; i < 9_997; i++) await rateLimits.add([`${i}`], 1000)
    expect(await rateLimits.add(['first'], 1000)).to.deep.equal([2])
    await rateLimits.takeBack(['second'])
    await rateLimits.add(['second', 'one more', 'two more'], 1000)
    expect(await rateLimits.add(['first', 'second', 'third'], 1000)).to.deep.equal([3, 2, 1])
  })
})
