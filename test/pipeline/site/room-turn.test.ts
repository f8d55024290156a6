/** Turns of processes to take room on a site (DAV-33). */

import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LeaseError, type Leases } from '../../../pipeline/coordination/leases.ts'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import { RoomTurns } from '../../../pipeline/site/room-turn.ts'

const SITE = 'a.example'

/** Whether a promise has come to its end when everything that can go on has. */
async function hasEnded(work: Promise<unknown>): Promise<boolean> {
  let ended = false
  void work.then(() => {
    ended = true
  })
  for (let i = 0; i < 3; i++) await setImmediate()
  return ended
}

describe('DAV-33 turns to take room', () => {
  it('are shared by commits of one process, and wait for all of another one', async () => {
    const leases = localLeases()
    const [mine, theirs] = [new RoomTurns(leases, SITE), new RoomTurns(leases, SITE)]
    const leave = await Promise.all([mine.take(), mine.take()])
    const other = theirs.take()
    leave[0]?.()
    expect(await hasEnded(other)).to.equal(false)
    leave[1]?.()
    const leaveOther = await other
    const again = mine.take()
    expect(await hasEnded(again)).to.equal(false)
    leaveOther()
    ;(await again)()
  })

  it('are not shared for ever: others have theirs, however many commits there are', async () => {
    const leases = localLeases()
    const [mine, theirs] = [new RoomTurns(leases, SITE), new RoomTurns(leases, SITE)]
    const order: string[] = []
    const taking = async (turns: RoomTurns, name: string) => {
      const leave = await turns.take()
      order.push(name)
      await setImmediate()
      leave()
    }
    const first = Array.from({ length: 64 }, () => taking(mine, 'mine'))
    const other = taking(theirs, 'theirs')
    const more = Array.from({ length: 64 }, () => taking(mine, 'later'))
    await Promise.all([...first, other, ...more])
    expect(order.indexOf('theirs')).to.equal(64)
  })

  it('are for one site', async () => {
    const leases = localLeases()
    const leave = await new RoomTurns(leases, SITE).take()
    ;(await new RoomTurns(leases, 'b.example').take())()
    leave()
  })

  it('that cannot be had refuse all who wait for them, and nobody afterwards', async () => {
    const local = localLeases()
    let isAway = true
    const leases: Leases = {
      ...local,
      hold: (site, paths, work) =>
        isAway ? Promise.reject(new LeaseError('Redis is away')) : local.hold(site, paths, work),
    }
    const turns = new RoomTurns(leases, SITE)
    const told = await Promise.allSettled([turns.take(), turns.take()])
    expect(told.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    isAway = false
    ;(await turns.take())()
  })
})
