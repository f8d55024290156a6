import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'mocha'
import { openLocalLocks } from '../../pipeline/coordination/local/locks.ts'
import { locksContract } from './locks-contract.ts'

/** A time that is no whole second. */
const START = Date.UTC(2026, 2, 14, 9, 26, 53, 589)

describe('locks in memory', () => {
  locksContract(
    async ({ most } = {}) => {
      let now = START
      const locks = await openLocalLocks({ clock: () => now, most })
      return { locks, advance: ms => (now += ms), now: () => now, end: () => locks.close() }
    },
    { lasting: false },
  )
})

describe('locks with a journal', () => {
  locksContract(
    async ({ most } = {}) => {
      let now = START
      const clock = () => now
      const folder = await mkdtemp(join(tmpdir(), 'locks-'))
      const open = () => openLocalLocks({ folder, clock, most })
      const locks = await open()
      const opened = [locks]
      return {
        locks,
        advance: ms => (now += ms),
        now: clock,
        async restart() {
          await locks.close()
          const later = await open()
          opened.push(later)
          return later
        },
        async end() {
          for (const each of opened) await each.close()
          await rm(folder, { recursive: true })
        },
      }
    },
    { lasting: true },
  )
})
