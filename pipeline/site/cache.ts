/** Stored resources in process memory, shared by all sites: the least recently used leave when the budget is spent. */

import { type KeptMemory, USUAL_MEMORY } from '../memory.ts'
import type { StoredFile } from './stored-file.ts'

export interface DocumentCache {
  get(site: string, path: string): StoredFile | undefined
  set(site: string, file: StoredFile): void
  delete(site: string, path: string): void
  /** Forgets everything below a collection, whose path ends in `/`. */
  deleteBelow(site: string, collection: string): void
  /** Forgets one site. */
  clear(site: string): void
  /** To be called after a tree was parsed: trees weigh much more than their text. */
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
 */
export function documentCache(options: { budget?: number; treeBudget?: number } = {}): DocumentCache {
  const budget = options.budget ?? USUAL_MEMORY
  const treeBudget = options.treeBudget ?? USUAL_MEMORY / 4
  const entries = new Map<string, Map<string, StoredFile>>()
  /** Order of use over all sites, oldest first, with the site of each. */
  const order = new Map<StoredFile, string>()
  /** Those with trees and what these weigh, in order of use. */
  const trees = new Map<StoredFile, number>()
  let weight = 0
  let treeWeight = 0

  const weightOf = (file: StoredFile) => ENTRY + (file.bytes?.length ?? 0) + file.codingBytes

  function forgetTree(file: StoredFile): void {
    treeWeight -= trees.get(file) ?? 0
    trees.delete(file)
  }

  function remove(site: string, file: StoredFile): void {
    entries.get(site)?.delete(file.resource.path)
    order.delete(file)
    weight -= weightOf(file)
    file.grows = undefined
    forgetTree(file)
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

  function shrinkTrees(bytes: number, except?: StoredFile): void {
    for (const oldest of trees.keys()) {
      if (treeWeight <= bytes || oldest === except) break
      forgetTree(oldest)
      oldest.releaseTree()
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
      if (file.keepsTree) this.weighTree(file)
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
      if (!order.has(file)) return
      const known = trees.get(file)
      if (known !== undefined) {
        trees.delete(file)
        trees.set(file, known)
        return
      }
      const bytes = file.treeBytes
      trees.set(file, bytes)
      treeWeight += bytes
      shrinkTrees(treeBudget, file)
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
    trees: {
      get bytes() {
        return treeWeight
      },
      shrink: bytes => shrinkTrees(bytes),
    },
  }
}
