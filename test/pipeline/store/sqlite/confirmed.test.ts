/** A commit was confirmed for a while: behind that, it has lost its turn (DAV-8). */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { CONFIRMED } from '../../../../pipeline/store/commit.ts'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import { connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import { inTime } from '../../../../pipeline/store/sqlite/turn.ts'
import { type OpenedFolder, openTemporary, putBlob } from '../fixture.ts'
import { outlasts } from '../outlasts.ts'

describe('SQLite store: commits that are confirmed', () => {
  let opened: OpenedFolder
  beforeEach(async () => {
    opened = await openTemporary({ shared: true, lockWait: 60_000 })
  })
  afterEach(() => opened.close())

  /** Another process is in a transaction until it is let go. */
  function occupy(): () => void {
    const database = connectWriter(opened.folder)
    database.exec('BEGIN IMMEDIATE')
    return () => {
      database.exec('COMMIT')
      database.close()
    }
  }

  const lost = new Error('lost')
  const LATE: [what: string, again: () => undefined | Promise<void>, isStored: boolean][] = [
    ['refused where that was lost', () => Promise.reject(lost), false],
    ['stored where that still holds', () => undefined, true],
  ]
  for (const [what, again, isStored] of LATE)
    it(`DAV-8 a turn that comes too late is confirmed again: ${what}`, async () => {
      const site = opened.store.site('s')
      const release = occupy()
      let asked = 0
      const confirm = () => (asked++ === 0 ? undefined : again())
      const commit = site
        .commit({ changes: [putBlob('/a', Buffer.from('a'))], confirm })
        .catch((error: unknown) => error)
      await sleep(CONFIRMED + 100)
      release()
      const outcome = await commit
      if (isStored) expect(outcome).to.include({ ok: true })
      else expect(outcome).to.equal(lost)
      expect(asked).to.be.at.least(2)
      expect((await site.find('/a')) !== undefined).to.equal(isStored)
    })

  const FAILURES: [what: string, reason: StoreError['reason'], told: StoreError['reason'], asked: number][] = [
    ['is tried again, but not without an end, where it comes too late', 'late', 'busy', 10],
    ['is not tried again where it fails', 'full', 'full', 1],
  ]
  for (const [what, reason, told, most] of FAILURES)
    it(`DAV-8 a commit that was confirmed ${what}`, async () => {
      let [confirmed, submitted] = [0, 0]
      const work = inTime(
        () => void confirmed++,
        () => {
          submitted++
          return Promise.reject(new StoreError(reason, 'As said'))
        },
      )
      expect(await work.catch((error: unknown) => error instanceof StoreError && error.reason)).to.equal(told)
      expect([confirmed, submitted]).to.deep.equal([most, most])
    })

  it('DAV-8 transactions that have begun are outlasted', async () => {
    await outlasts(opened.store, occupy())
  })
})
