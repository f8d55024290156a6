/**
 * Trees that are being read over several turns of the event loop. Commits change the tree of a document in place, which is
 * what makes small edits of large documents cheap; a tree that somebody has pinned stays as it is, and the edit leaves it.
 */

import type { TreeDocument } from './nodes.ts'

const pins = new WeakMap<TreeDocument, number>()

/**
 * Keeps a tree as it is.
 *
 * @returns takes this pin back; calling it again does nothing
 */
export function pinTree(tree: TreeDocument): () => void {
  pins.set(tree, (pins.get(tree) ?? 0) + 1)
  let pinned = true
  return () => {
    if (!pinned) return
    pinned = false
    const left = (pins.get(tree) ?? 1) - 1
    if (left > 0) pins.set(tree, left)
    else pins.delete(tree)
  }
}

export function isPinned(tree: TreeDocument): boolean {
  return pins.has(tree)
}
