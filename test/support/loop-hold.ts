/** How long one turn of the event loop works, in time of the processor: other programs on the machine do not count. */

import { expect } from 'chai'

/** Milliseconds that no turn may take. */
const LONGEST_TURN = 250

/** @returns the longest turn of the event loop while something runs, in milliseconds of this thread */
async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let running = true
  let before = worked()
  const look = () => {
    const now = worked()
    longest = Math.max(longest, now - before)
    before = now
    if (running) setImmediate(look)
  }
  setImmediate(look)
  try {
    await run()
    // What ran last is counted by the turn that follows it.
    await new Promise(resolve => setImmediate(resolve))
  } finally {
    running = false
    look()
  }
  return longest
}

function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Makes sure that something leaves the event loop to others; what the client of a test does in the same thread counts
 * as well.
 *
 * @param run repeated, up to three times in all, while it seems slow: code that is not compiled yet is slow, too
 */
export async function leavesTheLoop(run: () => Promise<unknown>): Promise<void> {
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3 && shortest >= LONGEST_TURN; i++) shortest = Math.min(shortest, await longestTurn(run))
  expect(shortest, 'milliseconds in one turn of the event loop').to.be.below(LONGEST_TURN)
}
