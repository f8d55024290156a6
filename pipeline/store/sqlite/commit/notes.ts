/** Notes: small values beside the documents that are kept for a time. */

import type { Note, NoteChange } from '../../notes.ts'
import { END } from '../../records/notes.ts'
import type { Store } from '../../store.ts'
import type { Database } from '../database.ts'
import type { Statements } from './statements.ts'

/** Notes removed in one go, so that commits never wait long for it. */
const AT_ONCE = 1000

/** Carries out changes inside a transaction. */
export function applyNotes(statements: Statements, changes: readonly NoteChange[]): void {
  for (const change of changes) {
    if (change.op === 'keep') statements.keepNote.run(change.note.key, change.note.value, change.note.expires)
    else if (change.op === 'drop') statements.dropNote.run(change.key)
    else if (change.op === 'drop-all') statements.dropNotes.run(change.prefix, change.prefix + END)
    else statements.moveNotes.run(change.prefix, change.prefix + END, change.to)
  }
}

/** The reading half. */
export function prepareNotes(database: Database, clock: () => number): Pick<Store, 'note' | 'notes' | 'noteKeys'> {
  const one = database.prepare<Note>('SELECT key, value, expires FROM note WHERE key = ? AND expires > ?')
  const several = database.prepare<Note>(
    'SELECT key, value, expires FROM note WHERE key >= ? AND key < ? AND expires > ? ORDER BY key',
  )
  const keys = database.prepare<Pick<Note, 'key'>>(
    'SELECT key FROM note WHERE key >= ? AND key > ? AND key < ? AND expires > ? ORDER BY key LIMIT ?',
  )
  return {
    async note(key) {
      return one.get(key, clock())
    },
    async notes(prefix) {
      return prefix === '' ? [] : several.all(prefix, prefix + END, clock())
    },
    async noteKeys(prefix, after, most) {
      return prefix === '' ? [] : keys.all(prefix, after, prefix + END, clock(), most).map(({ key }) => key)
    },
  }
}

/**
 * @returns removes notes whose time is over, inside a transaction; true when more is waiting
 */
export function prepareForgetting(database: Database): (now: number) => boolean {
  const forget = database.prepare(
    `DELETE FROM note WHERE key IN (SELECT key FROM note WHERE expires <= ? ORDER BY expires LIMIT ${AT_ONCE})`,
  )
  return now => forget.run(now) === AT_ONCE
}
