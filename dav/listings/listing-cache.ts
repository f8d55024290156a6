/**
 * Texts of leaves of listings, kept so that a listing after a change writes only what has changed: for each question those
 * of its newest answer.
 */

import type { Leaf } from './listings.ts'

/** The responses of the members of one leaf. */
export interface Page {
  bytes: Uint8Array
  /** They need the prefix for properties of Windows. */
  windows: boolean
}

export interface Pages {
  /** Pages of the newest answer to a question; none where it is not known any more. */
  of(question: string): ReadonlyMap<Leaf, Page>
  keep(question: string, pages: ReadonlyMap<Leaf, Page>): void
}

/** Bytes of all pages. */
const MOST_BYTES = 32 * 1024 * 1024
/** Questions are short, unless somebody means to fill the memory. */
const LONGEST_QUESTION = 4096

const NONE: ReadonlyMap<Leaf, Page> = new Map()

/** @param most bytes of all pages */
export function createPages(most = MOST_BYTES): Pages {
  /** The one that was asked longest ago stands first. */
  const kept = new Map<string, { pages: ReadonlyMap<Leaf, Page>; size: number }>()
  let held = 0

  function drop(question: string): void {
    held -= kept.get(question)?.size ?? 0
    kept.delete(question)
  }

  return {
    of: question => kept.get(question)?.pages ?? NONE,
    keep(question, pages) {
      drop(question)
      if (question.length > LONGEST_QUESTION) return
      let size = question.length
      for (const { bytes } of pages.values()) size += bytes.length
      kept.set(question, { pages, size })
      held += size
      for (const oldest of kept.keys()) {
        if (held <= most) break
        drop(oldest)
      }
    },
  }
}
