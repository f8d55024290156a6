/** Stored resources in process memory, shared by all sites: the least recently used leave when the budget is spent. */

import { type KeptMemory, USUAL_MEMORY } from '../memory.ts'
import { keptTrees } from './kept-trees.ts'
import type { StoredFile } from './stored-file.ts'

export interface DocumentCache {
  get(site: string, path: string): StoredFile | undefined
  set(site: string, file: StoredFile): void
  delete(site: string, path: string): void
  /** Forgets everything below a collection, whose path ends in `/`. */
  deleteBelow(site: string, collection: string): void
  /** Forgets one site. */
  clear(site: string): void
  /** To be called for each use of a tree: trees weigh much more than their text. */
  weighTree(file: StoredFile): void
  readonly size: number
  /** What all takes but trees. */
  readonly documents: KeptMemory
  readonly trees: KeptMemory
}

/** What a resource takes beside its bytes: its objects, its tags and paths, its places in maps. Measured. */
const ENTRY = 1280

/**
 * @param options.budget bytes of everything but trees
 * @param options.treeBudget bytes of trees
 * @param options.later runs what has to wait until nobody shows an edit in a tree; as soon as the event loop is free
 */
export function documentCache(
  options: { budget?: number; treeBudget?: number; later?: (run: () => void) => void } = {},
): DocumentCache {
  const budget = options.budget ?? USUAL_MEMORY
  const entries = new Map<string, Map<string, StoredFile>>()
  /** Order of use over all sites, oldest first, with the site of each. */
  const order = new Map<StoredFile, string>()
  const trees = keptTrees(options.treeBudget ?? USUAL_MEMORY / 4, options.later ?? setImmediate)
  let weight = 0

  const weightOf = (file: StoredFile) => ENTRY + (file.bytes?.length ?? 0) + file.codingBytes

  function remove(site: string, file: StoredFile): void {
    entries.get(site)?.delete(file.resource.path)
    order.delete(file)
    weight -= weightOf(file)
    file.grows = undefined
    trees.forget(file)
  }

  function touch(site: string, file: StoredFile): void {
    order.delete(file)
    order.set(file, site)
  }

  /** @param except is never let go */
  function shrinkDocuments(bytes: number, except?: StoredFile): void {
    for (const [oldest, owner] of order) {
      if (weight <= bytes || oldest === except) break
      remove(owner, oldest)
    }
  }

  return {
    get(site, path) {
      const file = entries.get(site)?.get(path)
      // Reordering on every hit would cost more than it gains; a read counts once the entry is in the older half.
      if (file && order.size > 64) touch(site, file)
      return file
    },
    set(site, file) {
      let paths = entries.get(site)
      if (!paths) entries.set(site, (paths = new Map()))
      const before = paths.get(file.resource.path)
      if (before) remove(site, before)
      paths.set(file.resource.path, file)
      order.set(file, site)
      weight += weightOf(file)
      file.grows = bytes => {
        weight += bytes
        shrinkDocuments(budget, file)
      }
      shrinkDocuments(budget, file)
      if (file.keepsTree) trees.use(file)
    },
    delete(site, path) {
      const file = entries.get(site)?.get(path)
      if (file) remove(site, file)
    },
    deleteBelow(site, collection) {
      for (const [path, file] of entries.get(site) ?? []) if (path.startsWith(collection)) remove(site, file)
    },
    clear(site) {
      for (const file of [...(entries.get(site)?.values() ?? [])]) remove(site, file)
      entries.delete(site)
    },
    weighTree(file) {
      if (order.has(file)) trees.use(file)
    },
    get size() {
      return order.size
    },
    documents: {
      get bytes() {
        return weight
      },
      shrink: bytes => shrinkDocuments(bytes),
    },
    trees,
  }
}
