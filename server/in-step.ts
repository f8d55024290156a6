/** Requests are decided by what every process had acknowledged when they came (RULE-11). */

import type { RequestListener } from 'node:http'
import type { Coherence } from '../pipeline/site/coherence.ts'

/**
 * Puts a look at the work of other processes before a handler.
 *
 * @param unready answers when memory cannot be brought in step: nothing may be decided by what is outdated
 * @returns the handler itself where there are no other processes
 */
export function inStep(
  coherence: Coherence | undefined,
  handler: RequestListener,
  unready: RequestListener,
): RequestListener {
  if (!coherence) return handler
  return (request, response) => {
    const catchingUp = coherence.inStep()
    if (!catchingUp) return handler(request, response)
    catchingUp.then(
      () => handler(request, response),
      () => unready(request, response),
    )
  }
}
