/** Edits in the log of commits, with the state that they leave: whoever holds what they were made on has nothing to load. */

import type { PassedEdit } from '../commit.ts'
import type { ForeignEdit } from '../foreign.ts'
import type { Resource } from '../resource.ts'

/** @param resources what the commit has left at each of its paths */
export function writeEdit(edit: PassedEdit, resources: ReadonlyMap<string, Resource | undefined>): string {
  return JSON.stringify({ ...edit, left: resources.get(edit.path) } satisfies ForeignEdit)
}

/** @param text as `writeEdit` made it; an earlier release wrote no state */
export function readEdit(text: string): ForeignEdit {
  return JSON.parse(text) as ForeignEdit
}
