/** What is remembered of changes, of one site and of many. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KeptTogether } from '../../../pipeline/kept-together.ts'
import { ChangeLog } from '../../../pipeline/site/change-log.ts'

describe('SEC-12 changes that are remembered', () => {
  const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `/${from + i}`)

  it('are as many as fit for all sites; the site that changed longest ago forgets its own', () => {
    const together = new KeptTogether<object>(10 * 160)
    const [one, other] = [new ChangeLog(0, together), new ChangeLog(0, together)]
    for (const [i, key] of keys(0, 6).entries()) one.note(key, i + 1)
    expect([one.hasChanged('/none', 0), one.hasChanged('/5', 5), one.hasChanged('/5', 6)]).to.deep.equal([
      false,
      true,
      false,
    ])
    for (const [i, key] of keys(0, 6).entries()) other.note(key, i + 1)
    expect([other.hasChanged('/none', 0), other.hasChanged('/5', 5)]).to.deep.equal([false, true])
    // What it has forgotten counts as changed, and what came since is known again.
    expect(['/none', '/5'].map(key => one.hasChanged(key, 5))).to.deep.equal([true, true])
    expect(['/none', '/5'].map(key => one.hasChanged(key, 6))).to.deep.equal([false, false])
    one.note('/2', 7)
    expect(['/none', '/2'].map(key => one.hasChanged(key, 6))).to.deep.equal([false, true])
    expect(together.bytes).to.be.at.most(10 * 160)
  })

  it('are counted as what they take however often keys come and go', () => {
    const together = new KeptTogether<object>(Number.POSITIVE_INFINITY)
    const log = new ChangeLog(0, together)
    for (let round = 0; round < 3; round++) for (const [i, key] of keys(0, 50).entries()) log.note(key, round * 50 + i)
    const few = together.bytes
    expect(few / 50).to.be.within(150, 160)
    for (let i = 0; i < 25_000; i++) log.note(`/${i % 12_500}`, 200 + i)
    expect(together.bytes / 10_000).to.be.within(150, 160)
  })
})
