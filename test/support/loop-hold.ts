/** How long one turn of the event loop works, in time of the processor: other programs on the machine do not count. */

import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { expect } from 'chai'
import { slowness, worked } from './cost.ts'

/**
 * Milliseconds that no turn may take. Almost all of what is tested takes 20 at most, so that there is room for a machine that
 * others use, too.
 */
export const LONGEST_TURN = 50

/**
 * Milliseconds between two looks. What works between them counts as one turn, so that it is little beside every limit; a loop
 * that looked every turn would never rest, and burn the processor for which other tests wait.
 */
const LOOK = 5

/** A turn above the limit. */
interface LongTurn {
  start: number
  end: number
  work: number
  /** How slow the machine was just after it. */
  slow: number
}

/** Long turns after which that is found out: later ones take what was found last, so that nothing is held up for long. */
const COMPARED = 5

/**
 * What the client of a test does in the same thread counts as well. Collections of garbage do not: they take as long as all
 * that tests and clients keep in this process.
 *
 * @param limit milliseconds from which on the speed of the machine is taken into account
 * @returns the longest turn of the event loop while something runs, in milliseconds of this thread; where it is too long,
 *   in those that it would have been on a machine as fast as usual
 */
export async function longestTurn(run: () => Promise<unknown>, limit = LONGEST_TURN): Promise<number> {
  let longest = 0
  let running = true
  let before = worked()
  let start = performance.now()
  const long: LongTurn[] = []
  const collections: PerformanceEntry[] = []
  const observer = new PerformanceObserver(list => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const look = () => {
    const [now, end] = [worked(), performance.now()]
    const work = now - before
    if (work < limit) longest = Math.max(longest, work)
    else long.push({ start, end, work, slow: (long.length < COMPARED ? undefined : long.at(-1)?.slow) ?? slowness() })
    before = work < limit ? now : worked()
    start = work < limit ? end : performance.now()
    if (running) next = setTimeout(look, LOOK)
  }
  let next = setTimeout(look, LOOK)
  try {
    await run()
    // What ran last is counted by the turn that follows it.
    await new Promise(resolve => setImmediate(resolve))
  } finally {
    running = false
    clearTimeout(next)
    look()
    // Node tells of collections a little later.
    if (long.length > 0) await new Promise(resolve => setTimeout(resolve, LOOK))
    collections.push(...observer.takeRecords())
    observer.disconnect()
  }
  // Others may have begun, or ended, to work since.
  const slowAtEnd = long.length > 0 ? slowness() : 1
  for (const turn of long) {
    const work = withoutCollections(turn, collections)
    longest = Math.max(longest, work < limit ? work : work / Math.max(turn.slow, slowAtEnd))
  }
  return longest
}

function withoutCollections({ start, end, work }: LongTurn, collections: readonly PerformanceEntry[]): number {
  let collected = 0
  for (const { startTime, duration } of collections) if (startTime >= start && startTime < end) collected += duration
  return Math.max(0, work - collected)
}

/** Makes sure that something, which cannot be repeated, leaves the event loop to others. */
export async function runsInTime(run: () => Promise<unknown>): Promise<void> {
  expect(await longestTurn(run), 'milliseconds in one turn of the event loop').to.be.below(LONGEST_TURN)
}

/**
 * Makes sure that something leaves the event loop to others.
 *
 * @param run repeated, up to three times in all, while it seems slow: code that is not compiled yet is slow, too
 * @param limit milliseconds that no turn may take
 */
export async function leavesTheLoop(run: () => Promise<unknown>, limit = LONGEST_TURN): Promise<void> {
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3 && shortest >= limit; i++) shortest = Math.min(shortest, await longestTurn(run, limit))
  expect(shortest, 'milliseconds in one turn of the event loop').to.be.below(limit)
}
