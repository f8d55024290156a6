import { expect } from 'chai'
import { describe, it } from 'mocha'
import { localTallies } from '../../pipeline/coordination/local/tallies.ts'
import { talliesContract } from './tallies-contract.ts'

describe('tallies of a single process', () => {
  talliesContract(async () => localTallies())

  it('forget a count when nothing was added to it for its life', async () => {
    let now = 1_000_000
    const tallies = localTallies(() => now)
    await tallies.add(['a'], 1000)
    now += 1000
    await tallies.add(['a'], 1000)
    now += 1000
    expect(await tallies.counts(['a'])).to.deep.equal([2])
    now += 1
    expect(await tallies.counts(['a'])).to.deep.equal([0])
    await tallies.add(['a'], 1000)
    expect(await tallies.counts(['a']), 'nothing is added to it').to.deep.equal([1])
  })

  it('hold a bounded number: those that were added to longest ago go first', async () => {
    const tallies = localTallies(() => 0)
    for (const key of ['first', 'second']) await tallies.add([key], 1000)
    for (let i = 0; i < 9_998; i++) await tallies.add([`${i}`], 1000)
    await tallies.add(['first'], 1000)
    expect(await tallies.counts(['first', 'second'])).to.deep.equal([2, 1])
    await tallies.add(['one more'], 1000)
    expect(await tallies.counts(['first', 'second'])).to.deep.equal([2, 0])
  })
})
