/** Time that moves only when a test says so. */

import type { Clock } from '../../../pipeline/events/clock.ts'

export interface ManualClock extends Clock {
  /** Lets time pass; what falls due is called in its order, at its time, and may finish before time goes on. */
  advance(milliseconds: number): Promise<void>
  /** Calls that wait for their time. */
  readonly waiting: number
  /** Somebody sets the clock: no time passes. */
  set(milliseconds: number): void
}

/** @param start unix milliseconds */
export function manualClock(start: number): ManualClock {
  let now = start
  let ahead = 0
  let nextOrder = 0
  const due = new Set<{ at: number; order: number; call: () => void }>()
  const first = (until: number) =>
    [...due].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0]
  return {
    now: () => now + ahead,
    passed: () => now,
    after(milliseconds, call) {
      const entry = { at: now + milliseconds, order: nextOrder++, call }
      due.add(entry)
      return () => due.delete(entry)
    },
    soon: queueMicrotask,
    async advance(milliseconds) {
      const until = now + milliseconds
      for (let entry = first(until); entry; entry = first(until)) {
        due.delete(entry)
        now = entry.at
        entry.call()
        await new Promise(resolve => setImmediate(resolve))
      }
      now = until
    },
    set(milliseconds) {
      ahead = milliseconds - now
    },
    get waiting() {
      return due.size
    },
  }
}
