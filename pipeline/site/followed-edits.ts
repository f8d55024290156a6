/**
 * Edits of documents that other processes have made, done again on the trees that are held here: an edit costs a small
 * part of what it costs to parse the new version.
 */

import { notingEdit } from '../declarations/derive-edit.ts'
import { forgetEntries } from '../model/entries.ts'
import { elementsAround } from '../model/place.ts'
import { cloning } from '../tree/clone.ts'
import { type Edit, editing, type Way } from '../tree/edit/edit.ts'
import { type EditRecord, recalledEdit, recordEdit } from '../tree/edit/record.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { isPinned } from '../tree/pins.ts'
import { revisionOf } from '../tree/revisions.ts'
import { ifShort, type Steps } from '../tree/steps.ts'

/** An edit that made one version of a document out of another. */
export interface FollowedEdit {
  path: string
  /** Version of the document that the edit was made on. */
  from: number
  edit: EditRecord
}

/** UTF-16 code units of an edit; larger ones are not followed step by step, so that the log of commits stays small. */
const LARGEST = 4 * 1024

/** Ways of edits that cost less than parsing does. */
const QUICK: readonly Way[] = ['splice', 'normalised', 'closed']

/**
 * An edit as others learn of it.
 *
 * @param from version of the document that it is made on
 * @param way in which it came about
 * @returns undefined where the others had better parse the new version
 */
export function editNotice(path: string, from: number, wanted: Edit, way: Way): string | undefined {
  if (!QUICK.includes(way) || ('text' in wanted && wanted.text.length > LARGEST)) return undefined
  const edit = recordEdit(wanted)
  return edit && JSON.stringify({ path, from, edit } satisfies FollowedEdit)
}

export function readNotice(notice: string): FollowedEdit {
  return JSON.parse(notice) as FollowedEdit
}

/**
 * Makes edits on a tree, in steps.
 *
 * @param tree belongs to the caller, and is good for nothing afterwards unless it is returned; one that somebody reads is
 *   copied first
 * @param text of the version that comes of it
 * @returns the tree of that version; undefined when the edits do not lead there
 */
export function* following(
  tree: TreeDocument,
  edits: readonly EditRecord[],
  text: string,
): Steps<TreeDocument | undefined> {
  let reached = isPinned(tree) ? yield* cloning(tree) : tree
  try {
    for (const record of edits) {
      const wanted = recalledEdit(reached, record)
      if (!wanted) return undefined
      const edited = reached
      const revision = revisionOf(edited)
      const edit = yield* editing(edited, wanted)
      const { parents, noted } = edit.propose(view => ({
        parents: view.parents,
        noted: ifShort(notingEdit(edited, revision, view))?.value,
      }))
      reached = yield* edit.accepting()
      noted?.(reached)
      forgetEntries(elementsAround(reached, parents))
      yield
    }
  } catch {
    // What could be done elsewhere cannot be done here: the document is parsed, which is always right.
    return undefined
  }
  return reached.source === text ? reached : undefined
}
