/** Commits between two reads of one request. */

import type { Site } from '../../pipeline/site/site.ts'

/**
 * Has something done right before a document is read that memory does not hold, as when other files have taken its place.
 *
 * @returns what it gave; undefined where the document was not read
 */
export function movingBetween<T>(site: Site, path: string, move: () => Promise<T>): () => Promise<T | undefined> {
  const { inMemory, findParsed } = site
  let moved: Promise<T> | undefined
  site.inMemory = asked => (asked === path && !moved ? undefined : inMemory.call(site, asked))
  site.findParsed = async asked => {
    if (asked === path && !moved) {
      moved = move()
      await moved
    }
    return findParsed.call(site, asked)
  }
  return async () => {
    Object.assign(site, { inMemory, findParsed })
    return await moved
  }
}
