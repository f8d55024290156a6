/** What the checks of an embedded store share. */

import type { Statements } from '../commit/statements.ts'
import type { Database } from '../database.ts'

/** Something wrong, with the place as far as it is known. */
export interface Disagreement {
  /**
   * What does not agree: the database file itself, a table, what acts on tables, what is stored with its site, a path, a member with its parent, bytes with their digest, rows with
   * their owners, the index with entries, numbers with those given out, a sum with its members, a blob with its row, a
   * file with no row.
   */
  kind:
    | 'integrity'
    | 'table'
    | 'schema'
    | 'site'
    | 'path'
    | 'parent'
    | 'body'
    | 'orphan'
    | 'index'
    | 'number'
    | 'sum'
    | 'blob'
    | 'file'
  /** One sentence. */
  message: string
  site?: string
  path?: string
  /** SHA-256 of the blob. */
  digest?: string
  /** A process that is killed leaves this, and the next server takes it away: the store is sound all the same. */
  isLeft?: boolean
}

/** A finding that may know how to repair itself, inside a write transaction, without losing content. */
export interface Found extends Disagreement {
  repair?: (() => void) | undefined
}

export interface CheckContext {
  folder: string
  /** Sees one state throughout. */
  reader: Database
  /** Sees the newest state; repairs. */
  writer: Database
  statements: Statements
  /** Counts one thing that was looked at. */
  counted(step: string, total: number): void
  /** Runs while no other process can commit. */
  locked<Result>(work: () => Result): Result
}
