/** How long the event loop is held while something happens. */

import { expect } from 'chai'

/** Milliseconds of work that may be done in one turn of the loop. */
const LONGEST_HOLD = 250

/**
 * Time that other processes or threads take away does not count, so that a busy machine makes no difference.
 *
 * @returns the longest turn of the event loop, in milliseconds of work of this thread; that of the client counts as well
 */
export async function longestHold(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = process.threadCpuUsage()
  const look = () => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, (now.user + now.system - before.user - before.system) / 1e3)
    before = now
    turn = setImmediate(look)
  }
  let turn = setImmediate(look)
  try {
    await run()
    // What ran last is counted by the turn that follows it.
    await new Promise(resolve => setTimeout(resolve, 1))
  } finally {
    clearImmediate(turn)
  }
  return longest
}

/** Makes sure that something does not hold the event loop. */
export async function runsInTime(run: () => Promise<unknown>): Promise<void> {
  expect(await longestHold(run), 'milliseconds of work in one turn of the event loop').to.be.below(LONGEST_HOLD)
}
