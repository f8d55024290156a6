/**
 * Listings kept in memory: desktop clients ask for the same folder again and again, with or without the tag of what they
 * have. An answer is repeated only for the very state of the collection it was made from, which every change at or below
 * the collection replaces.
 */

import type { PiecesBody } from '../pipeline/answer.ts'
import type { Resource } from '../pipeline/resource-tags.ts'

/** Bytes of all kept listings of a mount, and of a single one. */
const MOST_BYTES = 32 * 1024 * 1024
const LARGEST = 8 * 1024 * 1024
/** Characters of a question: clients of files ask short ones. */
const LONGEST_QUESTION = 2048

export interface KeptListings {
  /**
   * @param collection its state as the view keeps it: the same object as long as nothing has changed
   * @param question everything else that the answer depends on
   */
  find(collection: Resource, question: string): PiecesBody | undefined
  keep(collection: Resource, question: string, body: PiecesBody): void
}

export function keptListings(): KeptListings {
  /** The one used last stands last. */
  const kept = new Map<string, { collection: Resource; body: PiecesBody }>()
  let bytes = 0

  function drop(key: string): void {
    bytes -= kept.get(key)?.body.size ?? 0
    kept.delete(key)
  }

  return {
    find(collection, question) {
      const key = `${collection.path}\n${question}`
      const entry = kept.get(key)
      if (entry?.collection !== collection) return undefined
      kept.delete(key)
      kept.set(key, entry)
      return entry.body
    },
    keep(collection, question, body) {
      if (body.size > LARGEST || question.length > LONGEST_QUESTION) return
      const key = `${collection.path}\n${question}`
      drop(key)
      kept.set(key, { collection, body })
      bytes += body.size
      for (const oldest of kept.keys()) {
        if (bytes <= MOST_BYTES) break
        drop(oldest)
      }
    },
  }
}
