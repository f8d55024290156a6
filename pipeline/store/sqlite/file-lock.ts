/** A lock of the system on a file, taken through SQLite, so that it goes with the process however that ends. */

import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const BUSY = 5

export interface FileLock {
  release(): void
}

/**
 * @param file made when absent; nobody may open it for anything else, as that would end the lock
 * @param options `shared` with others who take it so; `wait`: milliseconds to wait for those who have it
 * @returns undefined when others have it
 * @throws the error of SQLite when the file cannot be used
 */
export function lockFile(file: string, { shared = false, wait = 0 } = {}): FileLock | undefined {
  const database = new DatabaseSync(file, { timeout: wait })
  try {
    // In a rollback mode, whoever has begun to read excludes those who want all for themselves. A disk without room for a
    // journal is one to begin on, too.
    database.exec('PRAGMA journal_mode = MEMORY')
    if (shared) {
      database.exec('BEGIN')
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
    } else database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((((error ?? {}) as { errcode?: number }).errcode ?? 0) !== BUSY) throw error
    return undefined
  }
  return { release: () => database.close() }
}

/**
 * A lock on a file that is there as long as somebody has it. Whoever had it before may have removed the file that was locked:
 * then another one is there, or none.
 *
 * @returns undefined when others have it
 * @throws the error of SQLite when the file cannot be used
 */
export function lockPassing(file: string): FileLock | undefined {
  const number = () => statSync(file, { throwIfNoEntry: false })?.ino
  for (;;) {
    const before = number()
    const lock = lockFile(file)
    if (!lock) return undefined
    if (before !== undefined && number() === before)
      return {
        release() {
          rmSync(file, { force: true })
          lock.release()
        },
      }
    lock.release()
  }
}
