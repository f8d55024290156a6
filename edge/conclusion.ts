/** What both surfaces do about a failure, and to an answer before it is sent. */

import type { Answer } from '../pipeline/answer.ts'
import { asFault } from '../pipeline/failures.ts'
import { Fault } from '../pipeline/fault.ts'
import { findingsAt } from '../pipeline/findings.ts'
import type { Site } from '../pipeline/site/site.ts'

/** Milliseconds for which an outage is recorded once, however many requests it fails. */
const PAUSE = 1000

/** When each outage was recorded last, by what people are told of it. */
const recorded = new Map<string, number>()

function isNews(message: string): boolean {
  const now = performance.now()
  if (now - (recorded.get(message) ?? Number.NEGATIVE_INFINITY) < PAUSE) return false
  recorded.set(message, now)
  return true
}

/**
 * The fault that answers a failure.
 *
 * @param tell records what is the server's own fault; what keeps many requests from being answered, once a second
 * @param full status of a disk without room
 */
export function faultFor(thrown: unknown, tell: (error: unknown, message: string) => void, full?: 503 | 507): Fault {
  const error = asFault(thrown, full)
  if (error instanceof Fault) {
    const { cause } = error.details
    if (cause !== undefined && (error.status === 500 || (error.status > 500 && isNews(error.message))))
      tell(cause, error.message)
    return error
  }
  tell(error, 'unexpected failure')
  return new Fault(500, 'Internal', 'The server failed to answer this request. The failure was recorded.')
}

/** Says to caches that the answer depends on the origin of the page that asks. */
export function varyByOrigin({ headers }: Answer): void {
  const { Vary } = headers
  if (!Vary?.includes('Origin')) headers.Vary = Vary ? `${Vary}, Origin` : 'Origin'
}

/**
 * Tells whoever has stored a document that it declares something which may not say what it was meant to. What that is, the
 * explain page says, and the log.
 *
 * @param path of a document that may declare something
 * @param readsAll whether what the other documents of the site hold may be told
 * @returns whether there is anything of that
 */
export async function tellFindings(
  { headers }: Answer,
  site: Site,
  brandHeader: string,
  path: string,
  readsAll = true,
): Promise<boolean> {
  const count = (await findingsAt(site, path, readsAll)).length
  if (count > 0) headers[`${brandHeader}-Findings`] = String(count)
  return count > 0
}
