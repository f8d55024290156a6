/** What all keepers of tallies must do, run against each of them. */

import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import type { Tallies } from '../../pipeline/coordination/tallies.ts'

const LIFE = 60_000

/** @param open makes tallies in which nothing is counted */
export function talliesContract(open: () => Promise<Tallies>): void {
  let tallies: Tallies
  beforeEach(async () => {
    tallies = await open()
  })

  it('counts each key by itself', async () => {
    expect(await tallies.counts(['a', 'b'])).to.deep.equal([0, 0])
    await tallies.add(['a', 'b'], LIFE)
    await tallies.add(['a'], LIFE)
    expect(await tallies.counts(['b', 'a', 'c'])).to.deep.equal([1, 2, 0])
    expect(await tallies.counts([])).to.deep.equal([])
  })

  it('loses none of those that are added at once', async () => {
    await Promise.all(Array.from({ length: 50 }, () => tallies.add(['a'], LIFE)))
    expect(await tallies.counts(['a'])).to.deep.equal([50])
  })

  it('forgets one count alone', async () => {
    await tallies.add(['a', 'b'], LIFE)
    await tallies.forget('a')
    await tallies.forget('nobody')
    expect(await tallies.counts(['a', 'b'])).to.deep.equal([0, 1])
  })

  it('gives out no more than an allowance has, whoever asks at once', async () => {
    const allowance = { most: 5, perSecond: 0.001 }
    const waits = await Promise.all(Array.from({ length: 9 }, () => tallies.spend('a', allowance)))
    expect(waits.filter(wait => wait === undefined)).to.have.length(5)
    for (const wait of waits) if (wait !== undefined) expect(wait).to.be.within(900, 1000)
    expect(await tallies.spend('b', allowance)).to.equal(undefined)
  })

  it('takes any text for a key', async () => {
    for (const key of ['', 'a\nb', '{a}', 'ä😀', 'long'.repeat(5000)]) {
      await tallies.add([key], LIFE)
      expect(await tallies.counts([key]), key).to.deep.equal([1])
      expect(await tallies.spend(key, { most: 1, perSecond: 0.001 }), key).to.equal(undefined)
      expect(await tallies.spend(key, { most: 1, perSecond: 0.001 }), key).to.be.a('number')
    }
  })
}
