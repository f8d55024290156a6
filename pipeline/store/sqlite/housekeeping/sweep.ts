/** Takes away the files of blobs that nothing refers to any more. */

import { blobFile, prepareSettingAside } from '../../disk/folder.ts'
import type { Database } from '../database.ts'

/** Milliseconds that an unreferenced file stays, for readers that were given its name and have not opened it yet. */
export const GRACE = 3 * 60_000

/** Files removed in one go, so that commits never wait long for it. */
const SWEPT_AT_ONCE = 64

/** What a round of sweeping did. */
export interface Swept {
  /** Where the files are now, to be removed when the transaction is over: that can take a while. */
  files: string[]
  /** True when more is waiting. */
  more: boolean
}

/**
 * Takes away files that nothing refers to: blobs given up before a time, at most a few. Must run while no other connection
 * can commit.
 */
export type Sweep = (before: number) => Swept

/**
 * @param database a connection for writing; its caller opens and ends the transactions
 * @param folder of the store
 */
export function prepareSweep(database: Database, folder: string): Sweep {
  const candidates = database.prepare<{ digest: string }>(
    `SELECT digest FROM blob WHERE unused < ? ORDER BY unused LIMIT ${SWEPT_AT_ONCE}`,
  )
  const referred = database.prepare<{ found: number }>(
    'SELECT EXISTS (SELECT 1 FROM resource WHERE digest = ? AND in_file = 1) AS found',
  )
  const reuse = database.prepare('UPDATE blob SET unused = NULL WHERE digest = ?')
  const remove = database.prepare('DELETE FROM blob WHERE digest = ?')
  const setAside = prepareSettingAside(folder)

  return before => {
    const found = candidates.all(before)
    const files: string[] = []
    for (const { digest } of found) {
      if (referred.get(digest)?.found === 1) reuse.run(digest)
      else {
        files.push(...setAside(blobFile(folder, digest)))
        remove.run(digest)
      }
    }
    return { files, more: found.length === SWEPT_AT_ONCE }
  }
}
