/** Stored resources in process memory, shared by all sites: the least recently used leave when the budget is spent. */

import { type KeptMemory, USUAL_MEMORY } from '../memory.ts'
import type { Held } from './held.ts'

export interface DocumentCache {
  get(site: string, path: string): Held | undefined
  set(site: string, held: Held): void
  delete(site: string, path: string): void
  /** Forgets everything below a collection, whose path ends in `/`. */
  deleteBelow(site: string, collection: string): void
  /** Forgets one site. */
  clear(site: string): void
  /** To be called after a tree was parsed: trees weigh much more than their text. */
  weighTree(held: Held): void
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
  const entries = new Map<string, Map<string, Held>>()
  /** Order of use over all sites, oldest first, with the site of each. */
  const order = new Map<Held, string>()
  /** Those with trees and what these weigh, in order of use. */
  const trees = new Map<Held, number>()
  let weight = 0
  let treeWeight = 0

  const weightOf = (held: Held) => ENTRY + (held.bytes?.length ?? 0) + held.codingBytes

  function forgetTree(held: Held): void {
    treeWeight -= trees.get(held) ?? 0
    trees.delete(held)
  }

  function remove(site: string, held: Held): void {
    entries.get(site)?.delete(held.resource.path)
    order.delete(held)
    weight -= weightOf(held)
    held.grows = undefined
    forgetTree(held)
  }

  function touch(site: string, held: Held): void {
    order.delete(held)
    order.set(held, site)
  }

  /** @param except is never let go */
  function shrinkDocuments(bytes: number, except?: Held): void {
    for (const [oldest, owner] of order) {
      if (weight <= bytes || oldest === except) break
      remove(owner, oldest)
    }
  }

  function shrinkTrees(bytes: number, except?: Held): void {
    for (const oldest of trees.keys()) {
      if (treeWeight <= bytes || oldest === except) break
      forgetTree(oldest)
      oldest.releaseTree()
    }
  }

  return {
    get(site, path) {
      const held = entries.get(site)?.get(path)
      // Reordering on every hit would cost more than it gains; a read counts once the entry is in the older half.
      if (held && order.size > 64) touch(site, held)
      return held
    },
    set(site, held) {
      let paths = entries.get(site)
      if (!paths) entries.set(site, (paths = new Map()))
      const before = paths.get(held.resource.path)
      if (before) remove(site, before)
      paths.set(held.resource.path, held)
      order.set(held, site)
      weight += weightOf(held)
      held.grows = bytes => {
        weight += bytes
        shrinkDocuments(budget, held)
      }
      shrinkDocuments(budget, held)
      if (held.keepsTree) this.weighTree(held)
    },
    delete(site, path) {
      const held = entries.get(site)?.get(path)
      if (held) remove(site, held)
    },
    deleteBelow(site, collection) {
      for (const [path, held] of entries.get(site) ?? []) if (path.startsWith(collection)) remove(site, held)
    },
    clear(site) {
      for (const held of [...(entries.get(site)?.values() ?? [])]) remove(site, held)
      entries.delete(site)
    },
    weighTree(held) {
      if (!order.has(held)) return
      const known = trees.get(held)
      if (known !== undefined) {
        trees.delete(held)
        trees.set(held, known)
        return
      }
      const bytes = held.treeBytes
      trees.set(held, bytes)
      treeWeight += bytes
      shrinkTrees(treeBudget, held)
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
