/** What all keepers of rateLimits must do, run against each of them. */

import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import type { RateLimits } from '../../../pipeline/coordination/rate-limits.ts'

const LIFE = 60_000

/** What is counted, without adding to it. */
export async function counted(rateLimits: RateLimits, ...keys: string[]): Promise<number[]> {
  const counts = await rateLimits.add(keys, LIFE)
  await rateLimits.takeBack(keys)
  return counts.map(count => count - 1)
}

/** @param open makes rateLimits in which nothing is counted */
export function rateLimitsContract(open: () => Promise<RateLimits>): void {
  let rateLimits: RateLimits
  beforeEach(async () => {
    rateLimits = await open()
  })

  it('counts each key by itself', async () => {
    expect(await rateLimits.add(['a', 'b'], LIFE)).to.deep.equal([1, 1])
    expect(await rateLimits.add(['a'], LIFE)).to.deep.equal([2])
    expect(await rateLimits.add(['b', 'a', 'c'], LIFE)).to.deep.equal([2, 3, 1])
    expect(await rateLimits.add([], LIFE)).to.deep.equal([])
  })

  it('loses none of those that are added at once, and tells each another count', async () => {
    const counts = await Promise.all(Array.from({ length: 50 }, () => rateLimits.add(['a'], LIFE)))
    expect(counts.flat().sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, i) => i + 1))
  })

  it('takes one back from each of several counts, and none below zero', async () => {
    for (let i = 0; i < 3; i++) await rateLimits.add(['a', 'b'], LIFE)
    await rateLimits.takeBack(['a'])
    await rateLimits.takeBack(['b', 'a', 'nobody'])
    expect(await counted(rateLimits, 'a', 'b', 'nobody')).to.deep.equal([1, 2, 0])
    for (let i = 0; i < 3; i++) await rateLimits.takeBack(['a'])
    expect(await rateLimits.add(['a'], LIFE)).to.deep.equal([1])
  })

  it('forgets one count alone', async () => {
    await rateLimits.add(['a', 'b'], LIFE)
    await rateLimits.forget('a')
    await rateLimits.forget('nobody')
    expect(await counted(rateLimits, 'a', 'b')).to.deep.equal([0, 1])
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
      expect(await rateLimits.add([key], LIFE), key).to.deep.equal([1])
      expect(await rateLimits.add([key], LIFE), key).to.deep.equal([2])
      await rateLimits.takeBack([key])
      expect(await counted(rateLimits, key), key).to.deep.equal([1])
      expect(await rateLimits.spend(key, { most: 1, perSecond: 0.001 }), key).to.equal(undefined)
      expect(await rateLimits.spend(key, { most: 1, perSecond: 0.001 }), key).to.be.a('number')
    }
  })
}
