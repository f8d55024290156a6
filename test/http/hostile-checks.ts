/** How long the event loop is held while something happens. */

import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Milliseconds that the loop may be held at once. The bound is 50 on a quiet machine; this one may be busy, and the client
 * runs in the same process.
 */
export const LONGEST_HOLD = 250

/** @returns the longest time, in milliseconds, in which nothing else could run */
export async function longestHold(run: () => Promise<unknown>): Promise<number> {
  const monitor = monitorEventLoopDelay({ resolution: 2 })
  monitor.enable()
  await run()
  // What ran last is counted by the turn that follows it.
  await new Promise(resolve => setTimeout(resolve, 5))
  monitor.disable()
  return monitor.max / 1e6
}
