/** How long one turn of the event loop works, in time of the processor: other programs on the machine do not count. */

import { expect } from 'chai'
import { slowness, worked } from './cost.ts'

/**
 * Milliseconds that no turn may take. It allows for collections of the whole memory, which in tests holds what their clients
 * send and receive, too: with 100, a run of the whole suite found one that took longer.
 */
export const LONGEST_TURN = 250

/**
 * Milliseconds between two looks. What works between them counts as one turn, so that it is little beside every limit; a loop
 * that looked every turn would never rest, and burn the processor for which other tests wait.
 */
const LOOK = 5

/**
 * What the client of a test does in the same thread counts as well.
 *
 * @param limit milliseconds from which on the speed of the machine is taken into account
 * @returns the longest turn of the event loop while something runs, in milliseconds of this thread; where it is too long,
 *   in those that it would have been on a machine as fast as usual
 */
export async function longestTurn(run: () => Promise<unknown>, limit = LONGEST_TURN): Promise<number> {
  let longest = 0
  let running = true
  let before = worked()
  const look = () => {
    const now = worked()
    longest = Math.max(longest, now - before)
    before = now
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
  }
  return longest < limit ? longest : longest / slowness()
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
