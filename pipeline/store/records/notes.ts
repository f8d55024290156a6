/** Keys of notes. */

import { StoreError } from '../errors.ts'
import type { NoteChange } from '../notes.ts'

/** Makes a prefix greater than every key that begins with it: greater than every character, as keys are compared by their UTF-8 bytes. */
export const END = '\u{10FFFF}'

/** @throws StoreError `invalid` for keys that would mean something else than they say */
export function checkNotes(changes: readonly NoteChange[]): void {
  for (const change of changes) {
    for (const key of keysOf(change))
      if (key === '' || key.includes('\0') || !key.isWellFormed())
        throw new StoreError('invalid', 'Keys of notes are well-formed text without NUL')
  }
}

function keysOf(change: NoteChange): string[] {
  if (change.op === 'keep') return [change.note.key]
  if (change.op === 'drop') return [change.key]
  return change.op === 'move-all' ? [change.prefix, change.to] : [change.prefix]
}
