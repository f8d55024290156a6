/**
 * The responses of listings, leaf by leaf, so that a listing after a change writes anew only what has changed. The cache
 * holds those of the newest answer to each question. A leaf that has changed is another object, which empties nothing
 * but is not found; the members in it that have not changed are the same objects.
 */

import type { KeptMemory } from '../../pipeline/memory.ts'
import { OrderedMap } from '../../pipeline/ordered-map.ts'
import type { LeafResponses } from './leaf-responses.ts'
import type { Leaf } from './listings.ts'

export interface ListingCache {
  /** The leaves of the newest answer to a question; none where it is not known any more. */
  of(question: string): ReadonlyMap<Leaf, LeafResponses>
  keep(question: string, leaves: ReadonlyMap<Leaf, LeafResponses>): void
  readonly memory: KeptMemory
}

/** Bytes of all leaves. */
const MOST_BYTES = 16 * 1024 * 1024
/** What a leaf takes beside its responses. */
const LEAF = 512
/** Questions are short, unless somebody means to fill the memory. */
const LONGEST_QUESTION = 4096

const NONE: ReadonlyMap<Leaf, LeafResponses> = new Map()

/** @param most bytes of all leaves */
export function createListingCache(most = MOST_BYTES): ListingCache {
  /** The one that was asked longest ago stands first. */
  const kept = new OrderedMap<string, { leaves: ReadonlyMap<Leaf, LeafResponses>; size: number }>()
  let held = 0

  function drop(question: string): void {
    held -= kept.delete(question)?.size ?? 0
  }

  function shrink(bytes: number): void {
    for (const [oldest] of kept) {
      if (held <= bytes) break
      drop(oldest)
    }
  }

  return {
    of: question => kept.get(question)?.leaves ?? NONE,
    keep(question, leaves) {
      drop(question)
      if (question.length > LONGEST_QUESTION) return
      let size = question.length
      for (const { bytes, ends } of leaves.values()) size += LEAF + bytes.length + ends.byteLength
      kept.set(question, { leaves, size })
      held += size
      shrink(most)
    },
    memory: {
      get bytes() {
        return held
      },
      shrink,
    },
  }
}
