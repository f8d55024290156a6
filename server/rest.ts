/** What the server gives back when nobody asks for anything. */

import { dropGarbage } from '../pipeline/store/garbage-collection.ts'

/** Milliseconds without a request after which the server rests. */
const PATIENCE = 15_000

/** Looks at whether requests came, in that time. */
const LOOKS = 5

export interface Rest {
  /** Looks whether requests came since the last look; runs by itself. */
  look(): void
  close(): void
}

/**
 * Has memory given back after a while without requests, once: then the collector runs, which nobody waits for.
 *
 * @param answered tells how many requests were answered so far
 * @param release lets go of what is not needed before the next request
 */
export function watchRest(answered: () => number, release: () => void, collect: () => void = dropGarbage): Rest {
  let before = Number.NaN
  let quiet = 0
  const look = () => {
    const now = answered()
    quiet = now === before ? quiet + 1 : 0
    before = now
    if (quiet !== LOOKS) return
    release()
    collect()
  }
  const timer = setInterval(look, PATIENCE / LOOKS).unref()
  return {
    look,
    close: () => clearInterval(timer),
  }
}
