/** Group commit: the jobs that arrived together share one transaction and one flush to disk, and fail one by one. */

import type { CommitResult } from '../../commit.ts'
import { messageOf, removeLater } from '../../disk/folder.ts'
import { StoreError } from '../../errors.ts'
import { type SplitPath, splitPath } from '../../paths.ts'
import { Refusal } from '../../records/refusals.ts'
import { syncFolders } from '../../synced-names.ts'
import { reasonOf } from '../database.ts'
import { refuseLate } from '../turn.ts'
import type { JobResult, WriterJob } from '../writer/messages.ts'
import { runCommit } from './commit.ts'
import type { Transaction, WriterState } from './commit-state.ts'
import { exchangeEntries } from './entries.ts'
import { applyNotes } from './notes.ts'
import { flushSums } from './sums.ts'

/** A job with the bytes of the message it came in. */
export interface Arrived {
  job: WriterJob
  bytes: ArrayBuffer
}

function failure(job: WriterJob, error: unknown): JobResult {
  const reason = error instanceof StoreError && error.reason === 'late' ? error.reason : reasonOf(error)
  return { id: job.id, error: { reason, message: messageOf(error) } }
}

function derive(
  { writer: { statements } }: Transaction,
  job: Extract<WriterJob, { task: 'derive' }>,
  place: SplitPath,
): void {
  const site = statements.site.get(job.site)
  const row = site === undefined ? undefined : statements.find.get(site.id, place.folder, place.name)
  if (site === undefined || row === undefined || row.version !== job.version) return
  for (const [name, value] of Object.entries(job.derived)) statements.derive.run(row.id, name, site.id, value)
  if (job.entries !== undefined) exchangeEntries({ statements, site }, row.id, job.entries)
}

function startTransaction(writer: WriterState): Transaction {
  const { progress, lastId } = writer.statements
  return {
    writer,
    sites: new Map(),
    version: progress.get()?.version ?? 0,
    lastId: lastId.get()?.id ?? 0,
    folders: new Set(),
    named: [],
    leftovers: [],
  }
}

function work(transaction: Transaction, { job, bytes }: Arrived): CommitResult | undefined {
  if (job.task === 'commit') {
    refuseLate(job.until)
    return runCommit(transaction, job, bytes)
  }
  const { statements } = transaction.writer
  if (job.task === 'derive') derive(transaction, job, splitPath(job.path))
  else if (job.task === 'checksums') statements.setChecksums.run(job.sha1, job.md5, job.digest)
  else if (job.task === 'notes') applyNotes(statements, job.changes)
  else if (job.task === 'setting')
    (job.unlessSet ? statements.addSetting : statements.setSetting).run(job.name, job.value)
  return undefined
}

/**
 * Runs one job in a savepoint, so that it is done wholly or not at all.
 * @throws the database's error when that has rolled back the whole transaction
 */
function runJob(transaction: Transaction, arrived: Arrived): JobResult {
  const { database, statements } = transaction.writer
  const { id } = arrived.job
  statements.savepoint.run()
  try {
    const result = work(transaction, arrived)
    statements.release.run()
    return { id, result }
  } catch (error) {
    if (!database.inTransaction()) throw error
    statements.undo.run()
    statements.release.run()
    return error instanceof Refusal ? { id, result: error.result } : failure(arrived.job, error)
  }
}

/** Writes what the commits of a transaction left for its end. */
function finish(transaction: Transaction, version: number): void {
  const { statements } = transaction.writer
  for (const site of transaction.sites.values()) {
    flushSums(statements, site.id, site.sums)
    statements.setSite.run(site.ms, site.seq, site.id)
  }
  if (transaction.version !== version) statements.setProgress.run(transaction.version)
  syncFolders(transaction.folders)
}

function rollBack({ database, statements }: WriterState): void {
  if (database.inTransaction()) statements.rollback.run()
}

/**
 * A commit whose flush failed stands in the log as a whole: whoever recovers the store after a kill would take it for done.
 * Another one, which changes nothing, takes its place there.
 *
 * @returns whether it did, and is on disk
 */
function overwriteFailed(writer: WriterState): boolean {
  const { database } = writer
  try {
    database.exec('BEGIN IMMEDIATE')
    const format = database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version
    // The page of its number is written even where that stays the same.
    database.exec(`PRAGMA user_version = ${format}; COMMIT`)
    return true
  } catch {
    rollBack(writer)
    return false
  }
}

/**
 * Runs jobs in one transaction. A job that fails is undone alone; when the transaction itself fails, as on a full disk,
 * the jobs are tried again one by one.
 * @returns an answer for every job, after everything answered with success is on disk
 */
export function runGroup(writer: WriterState, arrived: Arrived[]): JobResult[] {
  const { statements } = writer
  try {
    statements.begin.run()
  } catch (error) {
    return arrived.map(({ job }) => failure(job, error))
  }
  let named: readonly string[] = []
  let isWritten = false
  try {
    const transaction = startTransaction(writer)
    ;({ named } = transaction)
    const { version } = transaction
    const answers = arrived.map(each => runJob(transaction, each))
    finish(transaction, version)
    isWritten = true
    statements.commit.run()
    removeLater(transaction.leftovers)
    return answers
  } catch (error) {
    rollBack(writer)
    const isUndone = !isWritten || overwriteFailed(writer)
    if (arrived.length > 1) return arrived.flatMap(each => runGroup(writer, [each]))
    // On a full disk they would take the room that is missing, for as long as the server runs.
    if (named.length > 0 && isUndone) writer.takeAway?.(named)
    return arrived.map(({ job }) => failure(job, error))
  }
}
