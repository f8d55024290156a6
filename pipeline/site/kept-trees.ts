/**
 * The trees of documents in memory. Those used last are there as trees; what is older is packed, so that the same memory
 * holds twenty times as many; the oldest go.
 */

import type { KeptMemory } from '../memory.ts'
import type { StoredFile } from './stored-file.ts'

export interface KeptTrees extends KeptMemory {
  /** To be called for each use of a tree. */
  use(file: StoredFile): void
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
export function keptTrees(budget: number, later: (run: () => void) => void): KeptTrees {
  /** Those with trees and what these weigh, in order of use. */
  const open = new Map<StoredFile, number>()
  /** Those of them that are about to be packed. */
  const leaving = new Map<StoredFile, number>()
  /** Those with nothing but packed trees. */
  const packed = new Map<StoredFile, number>()
  const bytes = { open: 0, leaving: 0, packed: 0 }

  function add(kind: keyof typeof bytes, map: Map<StoredFile, number>, file: StoredFile, weight: number): void {
    map.set(file, weight)
    bytes[kind] += weight
  }

  function take(kind: keyof typeof bytes, map: Map<StoredFile, number>, file: StoredFile): void {
    bytes[kind] -= map.get(file) ?? 0
    map.delete(file)
  }

  function forget(file: StoredFile): void {
    take('open', open, file)
    take('leaving', leaving, file)
    take('packed', packed, file)
  }

  function pack(file: StoredFile): void {
    forget(file)
    file.packTree()
    if (file.packedBytes > 0) add('packed', packed, file, file.packedBytes)
  }

  function dropPacked(most: number): void {
    for (const oldest of packed.keys()) {
      if (bytes.open - bytes.leaving + bytes.packed <= most) break
      forget(oldest)
      oldest.releaseTree()
    }
  }

  function packLeaving(): void {
    for (const file of leaving.keys()) pack(file)
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
      forget(file)
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
      for (const file of open.keys()) pack(file)
      dropPacked(most)
    },
  }
}
