/** Commits that are stored, but of which the process is not told yet. */

import type { SiteStore } from '../../pipeline/store/store.ts'

export interface HeldCommits {
  /** Settles when the first of them is stored. */
  isStored: Promise<void>
  /** Has the process told of them. */
  letKnow(): void
}

/** @param count how many of the next ones */
export function holdCommits(store: SiteStore, count = 1): HeldCommits {
  const { commit } = store
  const { promise: isKnown, resolve: letKnow } = Promise.withResolvers<void>()
  const { promise: isStored, resolve: stored } = Promise.withResolvers<void>()
  let left = count
  store.commit = async order => {
    if (--left === 0) store.commit = commit
    const result = await commit.call(store, order)
    stored()
    await isKnown
    return result
  }
  return { isStored, letKnow }
}
