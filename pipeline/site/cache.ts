/** Stored resources in process memory, shared by all sites: the least recently used leave when the budget is spent. */

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
}

/**
 * @param options.budget bytes of bodies kept
 * @param options.treeBudget bytes of bodies whose trees are kept as well
 */
export function documentCache(options: { budget?: number; treeBudget?: number } = {}): DocumentCache {
  const budget = options.budget ?? 256 * 1024 * 1024
  const treeBudget = options.treeBudget ?? 24 * 1024 * 1024
  const entries = new Map<string, Map<string, Held>>()
  /** Order of use over all sites, oldest first. */
  const order = new Map<Held, string>()
  const trees = new Set<Held>()
  let weight = 0
  let treeWeight = 0

  const bodyWeight = (held: Held) => 512 + (held.bytes?.length ?? 0)

  function forgetTree(held: Held): void {
    if (!trees.delete(held)) return
    treeWeight -= bodyWeight(held)
    held.releaseTree()
  }

  function remove(site: string, held: Held): void {
    entries.get(site)?.delete(held.resource.path)
    order.delete(held)
    weight -= bodyWeight(held)
    if (trees.delete(held)) treeWeight -= bodyWeight(held)
  }

  function touch(site: string, held: Held): void {
    order.delete(held)
    order.set(held, site)
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
      weight += bodyWeight(held)
      for (const [oldest, owner] of order) {
        if (weight <= budget || oldest === held) break
        remove(owner, oldest)
      }
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
      if (trees.has(held)) {
        trees.delete(held)
        trees.add(held)
        return
      }
      trees.add(held)
      treeWeight += bodyWeight(held)
      for (const oldest of trees) {
        if (treeWeight <= treeBudget || oldest === held) break
        forgetTree(oldest)
      }
    },
    get size() {
      return order.size
    },
  }
}
