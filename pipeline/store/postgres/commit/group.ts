/**
 * Group commit: the jobs that arrived together share one transaction, two calls of functions in the database and one flush to
 * disk, and fail one by one. Transactions of all processes follow one another: each holds the row of `progress`, so that versions
 * have no gaps and come in the order in which commits can be seen.
 */

import { CONFIRMED, type CommitResult } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import type { NoteChange } from '../../notes.ts'
import { namesCollection, parentOf, pathsIn, splitPath } from '../../paths.ts'
import type { EventLimits } from '../../records/events.ts'
import { Refusal } from '../../records/refusals.ts'
import { isLost, storeError, takesNoWrites } from '../connection.ts'
import type { Committed } from '../foreign.ts'
import type { WriterSession } from '../session.ts'
import { pack } from '../text.ts'
import { type CommitJob, runCommit } from './commit.ts'
import { deriveAll } from './contents.ts'
import { exchangeEntries } from './entries.ts'
import { flush, flushAtOnce } from './flush.ts'
import { atHand, beginFromMemory, type Memory, NotAtHand, remember } from './memory.ts'
import { writeNotes } from './notes.ts'
import { mergePending, nothingPending } from './pending.ts'
import { catchUp, notePlace, type PlaceRow } from './places.ts'
import { newState, noteWritten, rowAt, settleSums, type Transaction } from './state.ts'

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
  /** Nothing but to have a turn. */
  | { task: 'turn'; at: number }

/** What became of a job; `result` is undefined for jobs other than commits. */
export type JobResult = { result: CommitResult | undefined } | { error: Error }

/** What a process knows of the others by its own transactions. */
export interface Turns {
  /** Version after the last group of this process, if there was one. */
  last: number | undefined
  /** Transactions for which it is taken that others commit as well, so that there is a queue: some, whenever they have. */
  contended: number
  /** What the tables hold as long as nobody else commits; undefined where that is not known. */
  memory: Memory | undefined
}

/** What a writer lends to its transactions. */
export interface GroupContext {
  session: WriterSession
  turns: Turns
  origin: string
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
  committed: Committed
  /** Unix milliseconds by the clock of the database. */
  now(): number
}

/** Whether the answer to COMMIT was lost with its connection: the jobs may have been carried out. */
export class Unanswered extends Error {
  /** Versions of the transaction, and what its jobs were to be told. */
  readonly from: number
  readonly to: number
  readonly answers: JobResult[]
  /** Unix milliseconds of the database until which it may still carry out the transaction, behind the lost connection. */
  readonly until: number
  constructor(from: number, to: number, answers: JobResult[], cause: unknown, until = 0) {
    super('The connection was lost during a commit', { cause })
    this.from = from
    this.to = to
    this.answers = answers
    this.until = until
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
    const { changes, beside } = job.commit
    for (const part of [{ site: job.site, changes }, ...(beside ? [beside] : [])]) {
      for (const path of part.changes.flatMap(pathsIn)) {
        want(part.site, path, !namesCollection(path))
        wantAbove(part.site, path)
      }
      want(part.site, '/', false)
    }
  }
  return [...wanted.values()]
}

const READ = 'SELECT * FROM read_group_4($1, $2, $3, $4)'

/** Asked for where nothing else is, to wait for the turn and have the number of the last commit. */
const NOWHERE: Wanted = { site: '', folder: '', name: '', put: false }

/**
 * Begins a transaction and waits for its turn among all processes. Whoever does that before it is settled which jobs share
 * the transaction takes those along that came while others had their turn. What is remembered follows those others.
 *
 * @throws the database's error, after which the connection cannot be used
 */
export async function waitForTurn({ session, turns }: GroupContext): Promise<void> {
  const { memory } = turns
  const begun = [session.run('BEGIN'), session.run('SELECT FROM progress FOR UPDATE')]
  const [isKnown] = await Promise.all([memory && catchUp(session, memory), ...begun])
  if (!isKnown) turns.memory = undefined
}

/** Transactions in a row that come between those of others: one of them alone says little. */
const CONTENDED = 8

/** @param version of the last commit of anybody, in the turn of this process */
function noteTurn(turns: Turns, version: number): void {
  const haveCommitted = turns.last !== undefined && version !== turns.last
  turns.contended = haveCommitted ? CONTENDED : Math.max(0, turns.contended - 1)
}

/** Begins a transaction, unless it has begun, and reads what its jobs need, in one flight. */
async function startTransaction(
  { session, origin, grew, turns }: GroupContext,
  jobs: readonly WriterJob[],
  hasBegun: boolean,
): Promise<Transaction> {
  const wanted = wantedBy(jobs)
  if (wanted.length === 0) wanted.push(NOWHERE)
  const asked = [
    wanted.map(({ site }) => site),
    wanted.map(({ folder }) => folder),
    wanted.map(({ name }) => name),
    wanted.map(({ put }) => String(put)),
  ]
  const begin = hasBegun ? undefined : session.run('BEGIN')
  const [places] = await Promise.all([session.rows<PlaceRow>(READ, ...asked), begin])
  const [first] = places
  if (first === undefined) throw new StoreError('failed', 'The database has lost the number of its last commit')
  const transaction: Transaction = {
    session,
    origin,
    grew,
    version: first.last_version,
    lastId: first.last_id,
    sites: new Map(),
    known: { rows: new Map(), texts: new Map(), seen: new Map() },
    pending: nothingPending(),
  }
  noteTurn(turns, transaction.version)
  for (const place of places) if (place.site_id !== null) notePlace(transaction, place, place.site_id)
  return transaction
}

async function derive(transaction: Transaction, job: Extract<WriterJob, { task: 'derive' }>): Promise<void> {
  const site = transaction.sites.get(job.site)
  if (site === undefined) return
  const state = newState(transaction, site, transaction.version + 1, job.at)
  const row = await rowAt(state, job.path)
  if (row === undefined || row.version !== job.version) return
  deriveAll(state, row.id, job.derived, false)
  if (job.entries !== undefined) await exchangeEntries(state, row.id, job.entries)
  if (state.pending.texts.size > 0) {
    // What others remember of the entries is true no more: they follow it as they do a commit.
    transaction.version = state.version
    state.pending.log.push({
      version: state.version,
      site: site.name,
      paths: JSON.stringify([job.path]),
      raised: '[]',
      edit: null,
    })
  }
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

/**
 * Why a commit may not be carried out any more. Asked in its transaction: if this process stands still from here on, the
 * database gives the transaction up sooner than a lease is lost.
 */
async function refusal({ commit }: CommitJob): Promise<Error | undefined> {
  try {
    const confirmed = commit.confirm?.()
    if (confirmed !== undefined) await confirmed
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** @throws the database's error, after which the transaction cannot go on */
async function runJob(transaction: Transaction, job: WriterJob): Promise<JobResult> {
  const refused = job.task === 'commit' ? await refusal(job) : undefined
  if (refused !== undefined) return { error: refused }
  try {
    if (job.task === 'commit') return { result: await runCommit(transaction, job) }
    if (job.task === 'derive') await derive(transaction, job)
    else if (job.task === 'notes') await Promise.all(writeNotes(transaction.session, job.changes))
    else if (job.task === 'setting') await setSetting(transaction, job)
    return { result: undefined }
  } catch (error) {
    if (error instanceof Refusal) return { result: error.result }
    if (error instanceof StoreError) return { error }
    throw error
  }
}

/** Whether nobody knows by an error what became of a commit. */
function isUnanswered(error: unknown): boolean {
  return isLost(error) && !takesNoWrites(error)
}

/** Waits for the statements that end a transaction. After one that failed, COMMIT is answered but rolls back: its error counts. */
async function ended(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

/** Writes everything and commits, in one flight. @throws Unanswered, or the database's error */
async function finish(transaction: Transaction, before: number, answers: JobResult[]): Promise<void> {
  const { session, pending, origin } = transaction
  await settleSums(transaction)
  noteWritten(transaction, transaction.pending)
  try {
    await ended([...flush(session, pending, origin, transaction), session.run('COMMIT')])
  } catch (error) {
    throw isUnanswered(error) ? new Unanswered(before, transaction.version, answers, error) : error
  }
}

/**
 * Carries out jobs on what is remembered of the tables. One call writes everything, and is the whole transaction unless that
 * has begun; the database refuses it where somebody else has committed since.
 *
 * @returns undefined where more is needed than is at hand; then nothing was written, and a transaction that has begun goes on
 * @throws Unanswered, or the database's error
 */
async function runFromMemory(
  context: GroupContext,
  jobs: readonly WriterJob[],
  hasBegun: boolean,
): Promise<JobResult[] | undefined> {
  const { session, turns } = context
  const { memory } = turns
  const recalled = memory && atHand(memory, jobs)
  if (memory === undefined || recalled === undefined) return undefined
  const { known, places } = recalled
  const transaction = beginFromMemory(memory, known, jobs, context)
  const { version: after } = memory
  // From here on leases are confirmed. If this process stands still then, or waits for others, they may be lost.
  const until = context.now() + CONFIRMED
  const answers: JobResult[] = []
  try {
    for (const job of jobs) answers.push(await runJob(transaction, job))
    await settleSums(transaction)
    noteWritten(transaction, transaction.pending)
    const written = flushAtOnce(session, transaction, { after, until, places })
    if (written === undefined) return undefined
    await ended(hasBegun ? [written, session.run('COMMIT')] : [written])
    if (!(await written)) {
      turns.memory = undefined
      return hasBegun ? runGroup(context, jobs) : undefined
    }
  } catch (error) {
    if (error instanceof NotAtHand) return undefined
    if (isUnanswered(error)) throw new Unanswered(after, transaction.version, answers, error, hasBegun ? 0 : until)
    throw error
  }
  context.committed(after, transaction.version)
  noteTurn(turns, after)
  turns.last = transaction.version
  turns.memory = remember(memory, transaction, jobs)
  return answers
}

/**
 * Runs jobs in one transaction. A job that fails is undone alone; when the transaction itself fails, the jobs are tried
 * again one by one.
 *
 * @param hasBegun the transaction has begun and has its turn
 * @returns an answer for every job, after everything answered with success is on disk
 * @throws Unanswered when nobody knows, and errors after which the connection cannot be used
 */
export async function runGroup(
  context: GroupContext,
  jobs: readonly WriterJob[],
  hasBegun = false,
): Promise<JobResult[]> {
  const { turns, session } = context
  try {
    const done = await runFromMemory(context, jobs, hasBegun)
    if (done !== undefined) return done
    const transaction = await startTransaction(context, jobs, hasBegun)
    const before = transaction.version
    const known = turns.memory?.version === before ? turns.memory : undefined
    turns.memory = undefined
    const answers: JobResult[] = []
    for (const job of jobs) answers.push(await runJob(transaction, job))
    await finish(transaction, before, answers)
    context.committed(before, transaction.version)
    turns.last = transaction.version
    turns.memory = remember(known, transaction, jobs)
    return answers
  } catch (error) {
    turns.memory = undefined
    if (error instanceof Unanswered || isLost(error)) throw error
    await session.run('ROLLBACK')
    const failure = storeError(error)
    // Whoever waited too long for its turn would wait as long again.
    if (jobs.length === 1 || failure.reason === 'busy') return jobs.map(() => ({ error: failure }))
    const answers: JobResult[] = []
    for (const job of jobs) answers.push(...(await runGroup(context, [job])))
    return answers
  }
}
