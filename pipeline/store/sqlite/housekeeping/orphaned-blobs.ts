/**
 * Files of blobs without a row: a process that ended between giving a file its name and its commit leaves one behind. They
 * are searched for once after every start, a little at a time, and commits come in between. Those of a commit that failed
 * go at once. Where only the row was lost, and something stored still refers to the file, it stays: a check makes the row
 * anew.
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareSettingAside } from '../../disk/folder.ts'
import type { Database } from '../database.ts'

/** Files looked up in one turn: about 2 ms. */
const AT_ONCE = 500

/** Folders that blobs are kept in, by the first digits of their digests. */
const SHARD = /^[0-9a-f]{2}$/

export interface OrphanSearch {
  /**
   * Looks at some more files. Files are taken away in a transaction of the search's own, so that no other process can be
   * about to commit a row for one.
   * @returns those that were taken away, where they are now; undefined when the search is over
   */
  next(): string[] | undefined
  /** @returns the files of these blobs that were taken away, where they are now */
  takeAway(digests: readonly string[]): string[]
}

/** Names in a folder; one that went meanwhile, or never was one, has none. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Whether a store has ever had blobs in files. */
export function holdsBlobs(folder: string): boolean {
  return namesIn(join(folder, 'blobs')).some(name => SHARD.test(name))
}

/** Prepares the question whether the file of a blob is needed: by its row, or by something stored that refers to it. */
export function prepareNeed(database: Database): (digest: string) => boolean {
  const needed = database.prepare<{ found: number }>(
    `SELECT EXISTS (SELECT 1 FROM blob WHERE digest = ?1)
       OR EXISTS (SELECT 1 FROM resource WHERE digest = ?1 AND in_file = 1) AS found`,
  )
  return digest => needed.get(digest)?.found === 1
}

/**
 * @param database a connection for writing, outside of transactions
 * @param folder of the store
 */
export function prepareOrphanSearch(database: Database, folder: string): OrphanSearch {
  const needed = prepareNeed(database)
  const isOrphan = (digest: string) => !needed(digest)
  const setAside = prepareSettingAside(folder)
  const blobs = join(folder, 'blobs')
  let shards: string[] | undefined
  let digests: string[] = []

  function takeAway(orphans: readonly string[]): string[] {
    database.exec('BEGIN IMMEDIATE')
    try {
      return orphans.filter(isOrphan).flatMap(digest => setAside(join(blobs, digest.slice(0, 2), digest.slice(2))))
    } finally {
      database.exec('COMMIT')
    }
  }

  return {
    next() {
      shards ??= namesIn(blobs).filter(name => SHARD.test(name))
      while (digests.length === 0) {
        const shard = shards.pop()
        if (shard === undefined) return undefined
        digests = namesIn(join(blobs, shard)).map(name => shard + name)
      }
      const orphans = digests.splice(-AT_ONCE).filter(isOrphan)
      return orphans.length === 0 ? [] : takeAway(orphans)
    },
    takeAway,
  }
}
