/**
 * What new embedded stores of a process need not make anew: their tables, flushed to the disk once, their threads, and the
 * room that they keep.
 */

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { RESERVE, RESERVE_SIZE } from '../../pipeline/store/disk/reserve.ts'
import { DATABASE, prepareTables } from '../../pipeline/store/sqlite/schema.ts'

/** Starting one takes 40 ms of processor time, which is more than most tests do with it. */
export const freeThreads: Worker[] = []

let tables: Buffer | undefined

function makeTables(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-tables-'))
  try {
    prepareTables(folder)
    return readFileSync(join(folder, DATABASE))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Puts into an empty folder what opening a store there would make, and flush, anew. */
export function putEmptyStore(folder: string): void {
  tables ??= makeTables()
  writeFileSync(join(folder, DATABASE), tables, { mode: 0o600, flag: 'wx' })
  // A hole, which the store takes for what it would write and flush: 4 MB for each of 2,000 stores.
  const reserve = join(folder, RESERVE)
  writeFileSync(reserve, '', { mode: 0o600 })
  truncateSync(reserve, RESERVE_SIZE)
}
