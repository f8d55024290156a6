/** Parts of a page that fail, and pay, for themselves: what a reader may not see must not end what they may see (SEC-6). */

import type { Composing } from './composing.ts'
import type { Work } from './work.ts'

/** Does work with an allowance of its own, where failures of parts are kept; elsewhere with that of the page. */
export function* apart<T>(composing: Composing, work: (own: Composing) => Work<T>): Work<T> {
  if (!composing.failures) return yield* work(composing)
  const { allowance: whole } = composing.viewer
  const allowance = whole.part()
  try {
    return yield* work({ ...composing, allowance })
  } finally {
    whole.end(allowance)
  }
}
