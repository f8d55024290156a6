/** Trees that change in place, and whether they show a change that has not been made. */

import type { TreeDocument } from './nodes.ts'

/** What edits know of a document beyond its tree. */
interface State {
  /** Changes with every edit that was accepted. */
  revision: number
  /** Whether a proposed tree is being shown. */
  showing: boolean
  stray: boolean | undefined
  /** The tree in which prefixed elements stand where they are written (COMP-6), where it is known; none where a limit forbids it. */
  asWritten: 'same' | { revision: number; tree: TreeDocument | undefined } | undefined
}

const states = new WeakMap<TreeDocument, State>()

export function stateOf(document: TreeDocument): State {
  let state = states.get(document)
  if (!state) {
    state = { revision: 0, showing: false, stray: undefined, asWritten: undefined }
    states.set(document, state)
  }
  return state
}

/**
 * Another number after each edit that was made in place; undefined while a proposed tree is shown. What is known of a tree
 * is known of one such number.
 */
export function revisionOf(document: TreeDocument): number | undefined {
  const state = stateOf(document)
  return state.showing ? undefined : state.revision
}
