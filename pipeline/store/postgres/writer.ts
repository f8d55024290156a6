/**
 * The one connection of a process that writes: takes whatever has arrived, commits it as one group, answers all of it, then
 * cleans up a little. While the database is away everybody who wants to write is told so at once.
 */

import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { CONFIRMED, type CommitResult } from '../commit.ts'
import { StoreError } from '../errors.ts'
import {
  type GroupContext,
  type JobResult,
  runGroup,
  type Turns,
  Unanswered,
  type WriterJob,
  waitForTurn,
} from './commit/group.ts'
import { connect, type DatabaseAddress, drop, isLost, lifeOf, storeError, takesNoWrites } from './connection.ts'
import type { Committed } from './foreign.ts'
import { clean } from './housekeeping/housekeeping.ts'
import { prepareRetention } from './housekeeping/retention.ts'
import { pipelineOn } from './session.ts'

/** Told of what happens in the background. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, details: Record<string, unknown>) => void

export interface WriterOptions {
  address: DatabaseAddress
  eventRetention: number
  /** Milliseconds that a group waits for its turn among all processes. */
  lockWait: number
  /** Name of this process in the log of commits. */
  origin(): string
  log: Log
  /** Asked before every group. @throws StoreError while the database is away */
  requireThere(): void
  /** Of the database that memory goes by: nothing is committed to another one. */
  life(): string
  committed: Committed
  /** Told that nobody knows what became of a transaction that was to come behind a version. */
  doubt(after: number): void
  /** Unix milliseconds by the clock of the database. */
  now(): number
}

export interface Writer {
  /** Settles when the job is on disk. @throws StoreError */
  submit(job: WriterJob): Promise<CommitResult | undefined>
  /** Nothing to commit, but time has passed. */
  housekeeping(now: number): void
  /** Breaks the connection: what is under way on it fails at once. */
  interrupt(): void
  /** Finishes what was submitted. */
  close(): Promise<void>
}

/** Milliseconds between two rounds of cleaning while there is traffic. */
const HOUSEKEEPING_EVERY = 5000

/** Commits taken into one transaction at most, so that the first ones are not kept waiting. */
const GROUP = 256

/** Bytes of bodies taken into one transaction at most, unless a single one has more. */
const GROUP_BYTES = 32 * 1024 * 1024

/** Milliseconds after which a group is answered whose database went away, be it known or not what became of it. */
const ANSWERED = 1800

/**
 * Milliseconds that a transaction may wait for its process: a process that ended or was cut off would hold up all others.
 * They are told before they have waited too long for the database.
 */
export const IDLE_IN_TRANSACTION = 1500

interface Waiting {
  job: WriterJob
  resolve(result: CommitResult | undefined): void
  reject(error: Error): void
}

/** Bytes that a job brings. */
function bytesOf(job: WriterJob): number {
  if (job.task !== 'commit') return 0
  let bytes = 0
  for (const change of job.commit.changes) {
    if (change.op !== 'put') continue
    bytes += 'bytes' in change.content ? change.content.bytes.length : (change.content.staged.bytes?.length ?? 0)
  }
  return bytes
}

export function startWriter(options: WriterOptions): Writer {
  const { address, eventRetention, lockWait, origin, log, requireThere, life, committed, doubt, now } = options

  const retention = prepareRetention(eventRetention)
  const queue: Waiting[] = []
  let client: pg.Client | undefined
  let clientLife = ''
  /** One that is being made. */
  let connecting: pg.Client | undefined
  let running: Promise<void> | undefined
  let isClosed = false
  let isCleaningDue = false
  let lastCleaned = 0
  let newest = 0
  const turns: Turns = { last: undefined, contended: 0, memory: undefined }

  async function open(): Promise<GroupContext> {
    requireThere()
    const settings = [
      `SET lock_timeout = ${lockWait}`,
      `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION}`,
    ]
    if (client === undefined) {
      client = await connect(address, 'writer', settings, begun => {
        connecting = begun
      })
      clientLife = await lifeOf(client)
    }
    connecting = undefined
    if (clientLife !== life()) throw new StoreError('busy', 'What the database has lost is not known yet')
    return { session: pipelineOn(client), turns, origin: origin(), grew: retention.grew, committed, now }
  }

  function abandon(): void {
    for (const each of [client, connecting]) if (each !== undefined) drop(each)
    client = connecting = undefined
    // Another host may have taken the place of the database, without what was committed last.
    turns.memory = undefined
  }

  function take(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { job } of queue) {
      bytes += bytesOf(job)
      if (count > 0 && (count === GROUP || bytes > GROUP_BYTES)) break
      count++
    }
    return queue.splice(0, count)
  }

  function answer(group: readonly Waiting[], answers: readonly JobResult[]): void {
    for (const [i, { resolve, reject }] of group.entries()) {
      const given = answers[i]
      if (given === undefined) reject(new StoreError('failed', 'The writer gave no answer'))
      else if ('error' in given) reject(given.error)
      else resolve(given.result)
    }
  }

  /**
   * What became of a transaction whose answer was lost: its entries are in the log of commits or they are not, and the
   * database has one state once it answers again, and who holds the turn there has ended.
   *
   * @param origin name of this process when it began
   * @param until when nobody waits for it any more, by the clock of this process
   * @returns answers to its jobs, or a transaction that has begun in which nothing of it was stored, and will not be
   */
  async function findOut(lost: Unanswered, origin: string, until: number): Promise<JobResult[] | GroupContext> {
    const { from, to, answers, cause } = lost
    // It is asked once in any case: a process that was held up may have the time behind it without having waited.
    for (let nap = 20, left = from !== to; left; nap = Math.min(2 * nap, 200)) {
      try {
        const context = await open()
        const { session } = context
        const [, progress, row] = await Promise.all([
          session.run('BEGIN'),
          session.row<{ version: number }>('SELECT version FROM progress FOR UPDATE'),
          session.row('SELECT 1 AS found FROM commit_log WHERE version = $1 AND origin = $2', to, origin),
        ])
        // What is still on its way to the database is carried out only behind the same commit, and only for a while.
        const rest = progress?.version === from ? Math.min(lost.until - now() + 1, CONFIRMED) : 0
        if (row === undefined && rest <= 0) return context
        await session.run('ROLLBACK')
        if (row !== undefined) return answers
        await wait(rest)
      } catch (error) {
        abandon()
        if (!isLost(error) && !(error instanceof StoreError))
          log('warn', 'It is not known whether a change was stored', { error: String(error) })
        left = performance.now() + nap < until
        if (left) await wait(nap)
      }
    }
    doubt(from)
    const error = new StoreError('unknown', 'The database went away during the commit', { cause })
    return answers.map(() => ({ error }))
  }

  /**
   * Writes a group. Where the connection is lost and nothing was stored, as when this process stood still in its transaction,
   * that is tried once more.
   */
  async function carryOut(): Promise<void> {
    const until = performance.now() + ANSWERED
    let group: Waiting[] | undefined
    let begun: GroupContext | undefined
    for (let isAgain = false; ; isAgain = true) {
      let isStanding = false
      let name = ''
      try {
        const context = begun ?? (await open())
        name = context.origin
        isStanding = true
        const hasBegun = begun !== undefined || turns.contended > 0
        if (begun === undefined && hasBegun) await waitForTurn(context)
        group ??= take()
        for (const { job } of group) newest = Math.max(newest, job.at)
        const jobs = group.map(({ job }) => job)
        return answer(group, await runGroup(context, jobs, hasBegun))
      } catch (error) {
        abandon()
        group ??= take()
        begun = undefined
        if (error instanceof Unanswered) {
          const known = await findOut(error, name, until)
          if (Array.isArray(known)) return answer(group, known)
          begun = known
        }
        if (!isAgain && isStanding && !takesNoWrites(error) && (begun !== undefined || isLost(error))) continue
        abandon()
        const failure = storeError(error instanceof Unanswered ? error.cause : error)
        for (const { reject } of group) reject(failure)
        return
      }
    }
  }

  async function housekeeping(): Promise<void> {
    const now = newest
    if (now - lastCleaned < HOUSEKEEPING_EVERY && now >= lastCleaned && !retention.overdue()) return
    lastCleaned = now
    try {
      const { session } = await open()
      // What is left over waits a tenth of the usual time.
      if (await clean(session, retention, now)) lastCleaned = now - HOUSEKEEPING_EVERY * 0.9
    } catch (error) {
      abandon()
      log('warn', 'Old events and bytes could not be removed', { error: String(error) })
    }
  }

  async function work(): Promise<void> {
    while (queue.length > 0 || isCleaningDue) {
      if (queue.length > 0) await carryOut()
      isCleaningDue = false
      await housekeeping()
    }
  }

  function wake(): void {
    // Whoever comes in the same turn of the event loop comes into the same group.
    running ??= setImmediate()
      .then(work)
      .finally(() => {
        running = undefined
        if (queue.length > 0) wake()
      })
  }

  return {
    submit(job) {
      if (isClosed) return Promise.reject(new StoreError('closed', 'The store is closed'))
      return new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject })
        wake()
      })
    },
    housekeeping(now) {
      if (isClosed || client === undefined) return
      newest = Math.max(newest, now)
      isCleaningDue = true
      wake()
    },
    interrupt: abandon,
    async close() {
      isClosed = true
      while (running !== undefined) await running
      await client?.end().catch(() => undefined)
      client = undefined
    },
  }
}
