/** Tells when sessions end, to those who must not go on afterwards: event streams (SSN-7, EVT-50). */

import type { Sessions } from '../../pipeline/coordination/sessions.ts'

/** Why a session is over (EVT-50). */
export type SessionEnd = 'expired' | 'invalidated'

export interface SessionExpiry {
  /**
   * Watches a session until it ends: at once when somebody has ended it, else when its time is over.
   *
   * @param expiry asks for its end, unix milliseconds, as it stands; undefined when it is gone
   * @returns stops watching
   */
  watch(id: string, expiry: () => Promise<number | undefined>, ended: (why: SessionEnd) => void): () => void
  /** Hears of no end any more. */
  close(): void
}

/** Milliseconds until every process knows of a session that one of them has ended. */
const TOLD_WITHIN = 1_000
/** Longest time that a timer can be set to. */
const LONGEST_TIMER = 2 ** 31 - 1
/** Milliseconds between two looks whether somebody has set the clock, which no timer hears of. */
const LOOK_EVERY = 4_000
/** Milliseconds by which clocks are moved without a word. */
const UNNOTICED = 500

/**
 * @param clock unix milliseconds
 * @param again milliseconds after which sessions that could not be reached are asked for again
 * @param every milliseconds between two looks at the clock
 */
export function sessionExpiry({
  site,
  sessions,
  clock,
  again,
  every = LOOK_EVERY,
}: {
  site: string
  sessions: Pick<Sessions, 'hasEnded' | 'onEnd'>
  clock: () => number
  again: number
  every?: number
}): SessionExpiry {
  /** Has the timers of all streams set anew. */
  const timers = new Set<() => void>()
  let looking: NodeJS.Timeout | undefined
  let ahead = 0
  const lookAtClock = () => {
    const before = ahead
    ahead = clock() - performance.now()
    if (Math.abs(ahead - before) > UNNOTICED) for (const setAnew of [...timers]) setAnew()
  }
  const add = (setAnew: () => void) => {
    timers.add(setAnew)
    if (looking) return
    ahead = clock() - performance.now()
    looking = setInterval(lookAtClock, every).unref()
  }
  const remove = (setAnew: () => void) => {
    timers.delete(setAnew)
    if (timers.size > 0) return
    clearInterval(looking)
    looking = undefined
  }
  const watched = new Map<string, Set<() => void>>()
  const stopListening = sessions.onEnd((ofSite, id) => {
    if (ofSite !== site) return
    for (const end of watched.get(id) ?? []) end()
  })
  return {
    watch(id, expiry, ended) {
      let timer: NodeJS.Timeout | undefined
      const stop = () => {
        clearTimeout(timer)
        timer = undefined
        remove(setAnew)
        const all = watched.get(id)
        all?.delete(invalidate)
        if (all?.size === 0) watched.delete(id)
      }
      const invalidate = () => {
        stop()
        ended('invalidated')
      }
      const arm = (end: number) => {
        clearTimeout(timer)
        timer = setTimeout(() => void look(), Math.min(Math.max(end - clock(), 0), LONGEST_TIMER)).unref()
      }
      const conclude = () => {
        stop()
        ended(sessions.hasEnded(site, id) ? 'invalidated' : 'expired')
      }
      let known: number | undefined
      const setAnew = () => arm(known ?? clock())
      const look = async () => {
        // What cannot be reached now is asked again later.
        const end = await expiry().catch(() => clock() + again)
        if (timer === undefined) return
        if (end !== undefined) return arm((known = end))
        if (sessions.hasEnded(site, id) || (known !== undefined && known <= clock())) return conclude()
        // It is gone before its time, so somebody has ended it and is about to say so.
        timer = setTimeout(conclude, TOLD_WITHIN).unref()
      }
      const all = watched.get(id) ?? new Set()
      watched.set(id, all.add(invalidate))
      add(setAnew)
      arm(clock())
      return stop
    },
    close: stopListening,
  }
}
