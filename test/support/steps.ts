/** What long work does in steps. */

import type { Steps } from '../../pipeline/tree/steps.ts'

/** Does all steps, and says how many there were. */
export function stepsOf(work: Steps<unknown>): number {
  let count = 0
  while (!work.next().done) count++
  return count
}
