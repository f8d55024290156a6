/** What new embedded stores of a process need not make anew: their tables, flushed to the disk once, and their threads. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
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
}
