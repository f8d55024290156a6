/** Notes: small values beside the documents that are kept for a time. */

import type { NoteChange } from '../../notes.ts'
import { END } from '../../records/notes.ts'
import type { Session } from '../session.ts'
import { pack } from '../text.ts'

/** Sends changes in their order. */
export function writeNotes(session: Session, changes: readonly NoteChange[]): Promise<unknown>[] {
  return changes.map(change => {
    if (change.op === 'drop') return session.run('DELETE FROM note WHERE key = $1', pack(change.key))
    if (change.op === 'drop-all') {
      const prefix = pack(change.prefix)
      return session.run('DELETE FROM note WHERE key >= $1 AND key < $2', prefix, prefix + END)
    }
    if (change.op === 'move-all') {
      const prefix = pack(change.prefix)
      return session.run(
        'UPDATE note SET key = $3 || substr(key, length($1) + 1) WHERE key >= $1 AND key < $2',
        prefix,
        prefix + END,
        pack(change.to),
      )
    }
    const { key, value, expires } = change.note
    return session.run(
      `INSERT INTO note (key, value, expires) VALUES ($1, $2, $3)
       ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires = EXCLUDED.expires`,
      pack(key),
      pack(value),
      expires,
    )
  })
}
