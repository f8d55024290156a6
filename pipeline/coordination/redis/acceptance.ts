/** Whether Redis takes writes: it may answer, and refuse them for want of memory, of a disk, of replicas or of rights. */

import { Acceptance } from '../../store/acceptance.ts'
import type { Leases } from '../leases.ts'
import type { Locks } from '../locks.ts'
import type { Sessions } from '../sessions.ts'

/** Whether Redis itself has said that it does not do it. Errors of leases, locks and sessions have its answer as their cause. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.name === 'ReplyError'
}

export interface Writers<OfLeases extends Leases> {
  leases: OfLeases
  locks: Locks
  sessions: Sessions
}

/** The same, heeding what becomes of all that is to be kept. What is only read or removed may go on where nothing else does. */
export function heeded<OfLeases extends Leases>(
  { leases, locks, sessions }: Writers<OfLeases>,
  report: (level: 'info' | 'warn', message: string, details: Record<string, unknown>) => void,
): Writers<OfLeases> & { takesWrites: () => boolean } {
  const redis = new Acceptance('Redis', isAnswer, report)
  const heed = async <Result>(write: Promise<Result>): Promise<Result> => {
    try {
      const result = await write
      redis.taken()
      return result
    } catch (error) {
      redis.failed(error)
      throw error
    }
  }
  return {
    takesWrites: () => redis.takesWrites,
    leases: {
      ...leases,
      async hold(site, paths, work) {
        let isHeld = false
        try {
          return await leases.hold(site, paths, newest => {
            isHeld = true
            redis.taken()
            return work(newest)
          })
        } catch (error) {
          // What fails later is not the taking of a lease.
          if (!isHeld) redis.failed(error)
          throw error
        }
      },
    },
    locks: {
      ...locks,
      take: (site, wanted) => heed(locks.take(site, wanted)),
      refresh: (site, token, seconds) => heed(locks.refresh(site, token, seconds)),
    },
    sessions: {
      ...sessions,
      signIn: (site, id, session, follows) => heed(sessions.signIn(site, id, session, follows)),
      keep: (site, id, value) => heed(sessions.keep(site, id, value)),
    },
  }
}
