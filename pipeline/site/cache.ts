/**
 * Stored resources in process memory, shared by all sites: the least recently used leave when the budget is spent. Trees
 * have a budget of their own: those used last are there as trees; what is older is packed, so that the same memory holds
 * twenty times as many; the oldest go.
 */

import { textBytes } from '../http/media.ts'
import { type KeptMemory, type Memory, USUAL_MEMORY } from '../memory.ts'
import { OrderedMap } from '../ordered-map.ts'
import type { StoredFile } from './stored-file.ts'

interface KeptTrees extends KeptMemory {
  /** To be called for each use of a tree. */
  use(file: StoredFile): void
  /** Holds nothing of a file any more. */
  forget(file: StoredFile): void
  /** Packs all trees as well. To be called while nobody shows an edit in one of them. */
  shrink(bytes: number): void
}

/** The part of the budget up to which trees stay open although packed ones have to go. */
const OPEN = 1 / 4

/**
 * @param budget bytes
 * @param later runs what has to wait until nobody shows an edit in a tree
 */
function keptTrees(budget: number, later: (run: () => void) => void): KeptTrees {
  /** Those with trees and what these weigh, in order of use. */
  const open = new OrderedMap<StoredFile, number>()
  /** Those of them that are about to be packed. */
  const leaving = new OrderedMap<StoredFile, number>()
  /** Those with nothing but packed trees. */
  const packed = new OrderedMap<StoredFile, number>()
  const bytes = { open: 0, leaving: 0, packed: 0 }

  function add(kind: keyof typeof bytes, map: OrderedMap<StoredFile, number>, file: StoredFile, weight: number): void {
    map.set(file, weight)
    bytes[kind] += weight
  }

  function take(kind: keyof typeof bytes, map: OrderedMap<StoredFile, number>, file: StoredFile): void {
    bytes[kind] -= map.delete(file) ?? 0
  }

  function takeOut(file: StoredFile): void {
    take('open', open, file)
    take('leaving', leaving, file)
    take('packed', packed, file)
  }

  function forget(file: StoredFile): void {
    takeOut(file)
    for (const map of [open, leaving, packed]) map.drop(file)
  }

  function pack(file: StoredFile): void {
    takeOut(file)
    file.packTree()
    if (file.packedBytes > 0) add('packed', packed, file, file.packedBytes)
  }

  function dropPacked(most: number): void {
    for (const [oldest] of packed) {
      if (bytes.open - bytes.leaving + bytes.packed <= most) break
      forget(oldest)
      oldest.releaseTree()
    }
  }

  function packLeaving(): void {
    for (const [file] of leaving) pack(file)
    dropPacked(budget)
  }

  /** Lets the oldest leave until the rest, or everything, is small enough. */
  function leave(used: StoredFile, isEnough: (rest: number) => boolean): void {
    for (const [oldest, weight] of open) {
      const rest = bytes.open - bytes.leaving
      if (oldest === used || rest + bytes.packed <= budget || isEnough(rest)) break
      if (leaving.has(oldest)) continue
      add('leaving', leaving, oldest, weight)
      if (leaving.size === 1) later(packLeaving)
    }
  }

  return {
    use(file) {
      takeOut(file)
      add('open', open, file, file.treeBytes)
      leave(file, rest => rest <= budget * OPEN)
      dropPacked(budget)
      leave(file, () => false)
    },
    forget,
    get bytes() {
      return bytes.open + bytes.packed
    },
    shrink(most) {
      for (const [file] of open) pack(file)
      dropPacked(most)
    },
  }
}

export interface DocumentCache {
  get(site: string, path: string): StoredFile | undefined
  /** Whether a file is what `get` finds for its path; counts as use, too. */
  holds(file: StoredFile): boolean
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

/** What a resource takes beside its bytes and texts: its objects, its tags, its places in maps. Measured. */
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
  const order = new OrderedMap<StoredFile, string>()
  const trees = keptTrees(options.treeBudget ?? USUAL_MEMORY / 4, options.later ?? setImmediate)
  let weight = 0

  const weightOf = ({ resource, bodyBytes, codingBytes, profileBytes }: StoredFile) =>
    ENTRY + textBytes(resource) + bodyBytes + codingBytes + profileBytes

  function remove(site: string, file: StoredFile): void {
    entries.get(site)?.delete(file.resource.path)
    release(file)
  }

  function release(file: StoredFile): void {
    order.drop(file)
    weight -= weightOf(file)
    file.grows = undefined
    trees.forget(file)
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
      if (file) order.use(file)
      return file
    },
    holds: file => order.use(file) !== undefined,
    set(site, file) {
      let paths = entries.get(site)
      if (!paths) entries.set(site, (paths = new Map()))
      const before = paths.get(file.resource.path)
      if (before) release(before)
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

/** One that takes its share of the memory of the process. */
export function documentCacheIn(memory: Memory): DocumentCache {
  const cache = documentCache({ budget: memory.share('documents'), treeBudget: memory.share('trees') })
  memory.hold('documents', cache.documents)
  memory.hold('trees', cache.trees)
  return cache
}
