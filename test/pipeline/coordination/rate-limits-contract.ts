/** What all keepers of rateLimits must do, run against each of them. */

import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import type { RateLimits } from '../../../pipeline/coordination/rate-limits.ts'

const LIFE = 60_000

/** @param open makes rateLimits in which nothing is counted */
export function rateLimitsContract(open: () => Promise<RateLimits>): void {
  let rateLimits: RateLimits
  beforeEach(async () => {
    rateLimits = await open()
  })

  it('counts each key by itself', async () => {
    expect(await rateLimits.counts(['a', 'b'])).to.deep.equal([0, 0])
    await rateLimits.add(['a', 'b'], LIFE)
    await rateLimits.add(['a'], LIFE)
    expect(await rateLimits.counts(['b', 'a', 'c'])).to.deep.equal([1, 2, 0])
    expect(await rateLimits.counts([])).to.deep.equal([])
  })

  it('loses none of those that are added at once', async () => {
    await Promise.all(Array.from({ length: 50 }, () => rateLimits.add(['a'], LIFE)))
    expect(await rateLimits.counts(['a'])).to.deep.equal([50])
  })

  it('forgets one count alone', async () => {
    await rateLimits.add(['a', 'b'], LIFE)
    await rateLimits.forget('a')
    await rateLimits.forget('nobody')
    expect(await rateLimits.counts(['a', 'b'])).to.deep.equal([0, 1])
  })

  it('gives out no more than an allowance has, whoever asks at once', async () => {
    const allowance = { most: 5, perSecond: 0.001 }
    const waits = await Promise.all(Array.from({ length: 9 }, () => rateLimits.spend('a', allowance)))
    expect(waits.filter(wait => wait === undefined)).to.have.length(5)
    for (const wait of waits) if (wait !== undefined) expect(wait).to.be.within(900, 1000)
    expect(await rateLimits.spend('b', allowance)).to.equal(undefined)
  })

  it('gives several of an allowance together, or none', async () => {
    const allowance = { most: 5, perSecond: 0.001 }
    expect(await rateLimits.spend('a', allowance, 3)).to.equal(undefined)
    expect(await rateLimits.spend('a', allowance, 4)).to.be.within(1900, 2000)
    expect(await rateLimits.spend('a', allowance, 2), 'what was refused took nothing').to.equal(undefined)
    expect(await rateLimits.spend('a', allowance, 9), 'as many as there ever are').to.be.within(4900, 5000)
  })

  it('gives out no more than an allowance has, one by one as well, where it gains many in a second', async () => {
    const allowance = { most: 25, perSecond: 10 }
    let given = 0
    // What it gains meanwhile is what a second's worth of questions may add.
    const begun = performance.now()
    while ((await rateLimits.spend('a', allowance)) === undefined) given++
    const gained = ((performance.now() - begun) / 1000) * allowance.perSecond
    expect(given).to.be.within(25, 25 + Math.ceil(gained))
  })

  it('takes any text for a key', async () => {
    for (const key of ['', 'a\nb', '{a}', 'ä😀', 'long'.repeat(5000)]) {
      await rateLimits.add([key], LIFE)
      expect(await rateLimits.counts([key]), key).to.deep.equal([1])
      expect(await rateLimits.spend(key, { most: 1, perSecond: 0.001 }), key).to.equal(undefined)
      expect(await rateLimits.spend(key, { most: 1, perSecond: 0.001 }), key).to.be.a('number')
    }
  })
}
