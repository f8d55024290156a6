/**
 * Group commit: the jobs that arrived together share one transaction, two flights of statements and one flush to disk, and
 * fail one by one. Transactions of all processes follow one another: each holds the row of `progress`, so that versions
 * have no gaps and come in the order in which commits can be seen.
 */

import type { CommitResult } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import type { NoteChange } from '../../notes.ts'
import { namesCollection, parentOf, splitPath } from '../../paths.ts'
import { pathsIn } from '../../records/changes.ts'
import type { EventLimits } from '../../records/events.ts'
import { Refusal } from '../../records/refusals.ts'
import { isLost, storeError } from '../connection.ts'
import { COLUMNS, type Row, rowOf } from '../rows.ts'
import type { Session } from '../session.ts'
import { pack, unpack } from '../text.ts'
import { type CommitJob, runCommit } from './commit.ts'
import { deriveAll } from './contents.ts'
import { exchangeEntries } from './entries.ts'
import { writeNotes } from './notes.ts'
import { flush, mergePending, nothingPending, placeKey } from './pending.ts'
import { lastSeenSql } from './placing.ts'
import { type CommitState, rowAt, type SiteState, settleSums, type Transaction } from './state.ts'

/** One thing to write. Times are unix milliseconds by the clock of the process. */
export type WriterJob =
  | CommitJob
  | {
      task: 'derive'
      at: number
      site: string
      path: string
      version: number
      derived: Record<string, string>
      /** As one text. */
      entries: string | undefined
    }
  | { task: 'setting'; at: number; name: string; value: string; unlessSet: boolean }
  | { task: 'notes'; at: number; changes: readonly NoteChange[] }

/** What became of a job; `result` is undefined for jobs other than commits. */
export type JobResult = { result: CommitResult | undefined } | { error: StoreError }

/** What a writer lends to its transactions. */
export interface GroupContext {
  session: Session
  origin: string
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
}

/** Whether the answer to COMMIT was lost with its connection: the jobs may have been carried out. */
export class Unanswered extends Error {
  /** Versions of the transaction, and what its jobs were to be told. */
  readonly from: number
  readonly to: number
  readonly answers: JobResult[]
  constructor(from: number, to: number, answers: JobResult[], cause: unknown) {
    super('The connection was lost during a commit', { cause })
    this.from = from
    this.to = to
    this.answers = answers
  }
}

/** A place that the jobs of a group will look at. */
interface Wanted {
  site: string
  folder: string
  name: string
  /** A document is put there: its entries are compared, or the last event of the place is asked for. */
  put: boolean
}

/** Everything that most commits look at: the resources they name and the collections above. */
function wantedBy(jobs: readonly WriterJob[]): Wanted[] {
  const wanted = new Map<string, Wanted>()
  const want = (site: string, path: string, put: boolean) => {
    const { folder, name } = splitPath(path)
    const key = `${site}\0${folder}\0${name}`
    const known = wanted.get(key)
    if (known === undefined) wanted.set(key, { site, folder, name, put })
    else known.put ||= put
    return known === undefined
  }
  const wantAbove = (site: string, path: string) => {
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (!want(site, above, false)) break
  }
  for (const job of jobs) {
    if (job.task === 'derive') want(job.site, job.path, true)
    if (job.task !== 'commit') continue
    for (const change of job.commit.changes) {
      for (const path of pathsIn(change)) {
        want(job.site, path, !namesCollection(path))
        wantAbove(job.site, path)
      }
    }
    want(job.site, '/', false)
  }
  return [...wanted.values()]
}

/** Each place is looked up by its whole key: as a plain join it might be sought among all resources of its site. */
const READ_PLACES = `SELECT s.name AS site, s.id AS site_id, ${COLUMNS.replace('r.folder, r.name', 'k.folder, k.name')},
    CASE WHEN k.put AND r.id IS NOT NULL THEN coalesce((SELECT t.lines FROM entry_text t WHERE t.id = r.id), '') END AS lines,
    CASE WHEN k.put AND r.id IS NULL THEN coalesce(${lastSeenSql('s.id', 'k.folder || k.name')}, -1) END AS seen
  FROM json_to_recordset($1::json)
    AS k (site text COLLATE "C", folder text COLLATE "C", name text COLLATE "C", put boolean)
  JOIN site s ON s.name = k.site
  LEFT JOIN LATERAL (SELECT * FROM resource WHERE resource.site = s.id AND resource.folder = k.folder
    AND resource.name = k.name LIMIT 1) r ON true`

type PlaceRow = Omit<Row, 'id'> & {
  site: string
  site_id: number
  id: number | null
  lines: string | null
  seen: number | null
}

/** Begins a transaction and reads what its jobs need, in one flight. */
async function startTransaction(
  { session, origin, grew }: GroupContext,
  jobs: readonly WriterJob[],
): Promise<Transaction> {
  const names = [...new Set(jobs.flatMap(job => ('site' in job ? [job.site] : [])))]
  const wanted = wantedBy(jobs)
  const [, progress, sites, counters, places] = await Promise.all([
    session.run('BEGIN'),
    session.row<{ version: number; last_id: number }>('SELECT version, last_id FROM progress FOR UPDATE'),
    session.rows<{ id: number; name: string; ms: number; seq: number }>(
      'SELECT id, name, ms, seq FROM site WHERE name = ANY ($1::text[])',
      names,
    ),
    session.rows<{ site: number; name: string; value: number }>(
      'SELECT site, counter.name, value FROM counter JOIN site ON site.id = counter.site WHERE site.name = ANY ($1::text[])',
      names,
    ),
    session.rows<PlaceRow>(READ_PLACES, JSON.stringify(wanted)),
  ])
  if (progress === undefined) throw new StoreError('failed', 'The database has lost the number of its last commit')
  const transaction: Transaction = {
    session,
    origin,
    grew,
    version: progress.version,
    lastId: progress.last_id,
    sites: new Map(),
    known: { rows: new Map(), texts: new Map(), seen: new Map() },
    pending: nothingPending(),
  }
  for (const { id, name, ms, seq } of sites)
    transaction.sites.set(name, { id, name, ms, seq, sums: new Map(), known: new Set(), counters: new Map() })
  const byId = new Map([...transaction.sites.values()].map(site => [site.id, site]))
  for (const { site, name, value } of counters) byId.get(site)?.counters.set(name, value)
  for (const place of places) notePlace(transaction, place)
  return transaction
}

function notePlace({ known }: Transaction, place: PlaceRow): void {
  const { site: _site, site_id, lines, seen, ...row } = place
  const key = placeKey(site_id, row.folder, row.name)
  if (row.id === null) {
    known.rows.set(key, null)
    if (seen !== null) known.seen.set(placeKey(site_id, row.folder + row.name, ''), seen)
    return
  }
  known.rows.set(key, rowOf({ ...row, id: row.id }))
  if (lines !== null) known.texts.set(row.id, unpack(lines))
}

/** What derived data is written with: nothing else of a commit. */
function bareState(transaction: Transaction, site: SiteState, at: number): CommitState {
  return {
    transaction,
    session: transaction.session,
    site,
    version: transaction.version,
    at,
    unlisted: new Set(),
    sums: new Map(),
    known: new Set(),
    pending: nothingPending(),
    counters: new Map(),
    ms: site.ms,
    seq: site.seq,
    limits: undefined,
    chunks: undefined,
    isDirect: false,
  }
}

async function derive(transaction: Transaction, job: Extract<WriterJob, { task: 'derive' }>): Promise<void> {
  const site = transaction.sites.get(job.site)
  if (site === undefined) return
  const state = bareState(transaction, site, job.at)
  const row = await rowAt(state, job.path)
  if (row === undefined || row.version !== job.version) return
  deriveAll(state, row.id, job.derived, false)
  if (job.entries !== undefined) await exchangeEntries(state, row.id, job.entries)
  mergePending(transaction.pending, state.pending)
}

async function setSetting(
  { session }: Transaction,
  { name, value, unlessSet }: Extract<WriterJob, { task: 'setting' }>,
) {
  const conflict = unlessSet ? 'DO NOTHING' : '(name) DO UPDATE SET value = EXCLUDED.value'
  await session.run(
    `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT ${conflict}`,
    pack(name),
    pack(value),
  )
}

/** @throws the database's error, after which the transaction cannot go on */
async function runJob(transaction: Transaction, job: WriterJob): Promise<JobResult> {
  try {
    if (job.task === 'commit') return { result: await runCommit(transaction, job) }
    if (job.task === 'derive') await derive(transaction, job)
    else if (job.task === 'notes') await Promise.all(writeNotes(transaction.session, job.changes))
    else await setSetting(transaction, job)
    return { result: undefined }
  } catch (error) {
    if (error instanceof Refusal) return { result: error.result }
    if (error instanceof StoreError) return { error }
    throw error
  }
}

/** Writes everything and commits, in one flight. @throws Unanswered, or the database's error */
async function finish(transaction: Transaction, before: number, answers: JobResult[]): Promise<void> {
  const { session, pending, origin } = transaction
  await settleSums(transaction)
  const sent = [
    ...flush(session, pending, origin),
    session.run('UPDATE progress SET version = $1, last_id = $2', transaction.version, transaction.lastId),
    session.run('COMMIT'),
  ]
  // After a statement that failed, COMMIT is answered but rolls back: the error of the statement counts.
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
  if (failed?.status !== 'rejected') return
  if (isLost(failed.reason)) throw new Unanswered(before, transaction.version, answers, failed.reason)
  throw failed.reason
}

/**
 * Runs jobs in one transaction. A job that fails is undone alone; when the transaction itself fails, the jobs are tried
 * again one by one.
 *
 * @returns an answer for every job, after everything answered with success is on disk
 * @throws Unanswered when nobody knows, and errors after which the connection cannot be used
 */
export async function runGroup(context: GroupContext, jobs: readonly WriterJob[]): Promise<JobResult[]> {
  try {
    const transaction = await startTransaction(context, jobs)
    const before = transaction.version
    const answers: JobResult[] = []
    for (const job of jobs) answers.push(await runJob(transaction, job))
    await finish(transaction, before, answers)
    return answers
  } catch (error) {
    if (error instanceof Unanswered || isLost(error)) throw error
    await context.session.run('ROLLBACK')
    const failure = storeError(error)
    // Whoever waited too long for its turn would wait as long again.
    if (jobs.length === 1 || failure.reason === 'busy') return jobs.map(() => ({ error: failure }))
    const answers: JobResult[] = []
    for (const job of jobs) answers.push(...(await runGroup(context, [job])))
    return answers
  }
}
