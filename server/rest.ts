/** What the server gives back when nobody asks for anything. */

import { dropGarbage } from '../pipeline/store/garbage-collection.ts'

/** Milliseconds without a request after which the server rests. */
const PATIENCE = 25_000

/** Looks at whether requests came, in that time. */
const LOOKS = 5

export interface Rest {
  /** To be called for every request. */
  disturb(): void
  /** Looks whether requests came since the last look; runs by itself. */
  look(): void
  close(): void
}

/**
 * Has memory given back after a while without requests, once: then the collector runs, which nobody waits for.
 *
 * @param release lets go of what is not needed before the next request
 */
export function watchRest(release: () => void, collect: () => void = dropGarbage): Rest {
  let isDisturbed = true
  let quiet = 0
  const look = () => {
    quiet = isDisturbed ? 0 : quiet + 1
    isDisturbed = false
    if (quiet !== LOOKS) return
    release()
    collect()
  }
  const timer = setInterval(look, PATIENCE / LOOKS).unref()
  return {
    disturb() {
      isDisturbed = true
    },
    look,
    close: () => clearInterval(timer),
  }
}
