/** What requests wait for where other processes change the same documents. */

import type { RequestListener } from 'node:http'
import type { Coherence } from '../pipeline/site/coherence.ts'

/**
 * Has a handler wait until memory knows what other processes had acknowledged when the request came: requests are
 * decided by nothing older (RULE-11).
 *
 * @param coherence undefined where there are no other processes
 * @param answering `isFree` tells of requests that no document decides: they wait for nothing; `unready` answers when memory
 *   cannot be brought in step, since nothing may be decided by what is outdated
 * @returns the handler itself where there is nothing to wait for
 */
export function afterCatchingUp(
  coherence: Pick<Coherence, 'inStep'> | undefined,
  {
    handler,
    isFree,
    unready,
  }: {
    handler: RequestListener
    isFree: (request: Parameters<RequestListener>[0]) => boolean
    unready: RequestListener
  },
): RequestListener {
  if (!coherence) return handler
  return (request, response) => {
    const catchingUp = coherence.inStep()
    if (!catchingUp || isFree(request)) return handler(request, response)
    catchingUp.then(
      () => handler(request, response),
      () => unready(request, response),
    )
  }
}
