/** The writing thread: takes whatever has arrived, commits it as one group, answers all of it, then cleans up a little. */

import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import type { Guard } from '../../commit.ts'
import { messageOf, removeLater } from '../../disk/folder.ts'
import { keepReserve, ROOM_BESIDE } from '../../disk/reserve.ts'
import { prepareLogging, prepareLogTrim } from '../commit/commit-log.ts'
import type { WriterState } from '../commit/commit-state.ts'
import { type Arrived, runGroup } from '../commit/group.ts'
import { prepareForgetting } from '../commit/notes.ts'
import { prepareStatements } from '../commit/statements.ts'
import { reasonOf } from '../database.ts'
import { type OrphanSearch, prepareOrphanSearch } from '../housekeeping/orphaned-blobs.ts'
import { prepareRetention } from '../housekeeping/retention.ts'
import { GRACE, prepareSweep } from '../housekeeping/sweep.ts'
import { prepareBody } from '../read/body.ts'
import { connectWriter, limitPages } from '../schema.ts'
import type { BodyPlace, JobResult, WriterData, WriterJob, WriterMessage, WriterReply } from './messages.ts'
import { renewable } from './renewable.ts'
import { commitWithin, type Room } from './room.ts'

/** Milliseconds between two rounds of cleaning while there is traffic. */
const HOUSEKEEPING_EVERY = 5000

/** Milliseconds between two steps of the search for files without a row. */
const SEARCH_EVERY = 10

/** Commits taken into one transaction at most, so that the first ones are not kept waiting. */
const GROUP = 512

/** @throws Error outside of a worker thread */
function connect(): MessagePort {
  if (parentPort === null) throw new Error('This module is the entry of a worker thread')
  return parentPort
}

const port = connect()

/** Writes for one store until it is closed. @returns what a message has it do */
function serve({ folder, eventRetention, lockWait, origin, pages, search, replies, replied }: WriterData) {
  /** A connection and what is prepared on it. */
  function open() {
    const database = connectWriter(folder, lockWait, pages)
    const retention = prepareRetention(database, eventRetention)
    let prepared: OrphanSearch | undefined
    const orphans = () => (prepared ??= prepareOrphanSearch(database, folder))
    const writer: WriterState = {
      database,
      statements: prepareStatements(database),
      copies: undefined,
      treeEvents: undefined,
      folder,
      grew: retention.grew,
      logCommit: origin === undefined ? undefined : prepareLogging(database, origin),
      takeAway: digests => removing(() => orphans().takeAway(digests)),
    }
    return {
      database,
      writer,
      retention,
      orphans,
      forgetNotes: prepareForgetting(database),
      trimLog: prepareLogTrim(database),
      sweep: prepareSweep(database, folder),
      readBody: prepareBody(database),
      close: () => database.close(),
    }
  }

  const connection = renewable(open)
  let lastCleaned = 0
  let closed = false

  function reply(message: WriterReply, travels: ArrayBuffer[] = []): void {
    replies.postMessage(message, travels)
    Atomics.store(replied, 0, 1)
  }

  /** Reads a body for the main thread, which it would keep from everything else. */
  function read(place: BodyPlace, id: number): void {
    try {
      const body = connection.current().readBody(place)
      const buffer = body instanceof Uint8Array && body.length > 0 ? body.buffer : undefined
      reply({ read: id, body }, buffer instanceof ArrayBuffer ? [buffer] : [])
    } catch (error) {
      reply({ read: id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  /** One round of cleaning in a transaction of its own. @returns true when more is waiting */
  function clean(now: number): boolean {
    const { database, writer, retention, forgetNotes, trimLog, sweep } = connection.current()
    writer.statements.begin.run()
    try {
      const events = retention.trim(now)
      const notes = forgetNotes(now)
      const entries = trimLog()
      const unused = sweep(now - GRACE)
      writer.statements.commit.run()
      removeLater(unused.files)
      return events || notes || entries || unused.more
    } catch (error) {
      if (database.inTransaction()) writer.statements.rollback.run()
      throw error
    }
  }

  function warn(message: string, error: unknown): void {
    reply({ log: { level: 'warn', message, details: { reason: reasonOf(error), error: messageOf(error) } } })
  }

  function housekeeping(now: number): void {
    const { database, retention } = connection.current()
    if (now - lastCleaned < HOUSEKEEPING_EVERY && now >= lastCleaned && !retention.overdue()) return
    lastCleaned = now
    try {
      limitPages(database, pages)
      // What is left over waits a tenth of the usual time.
      if (clean(now)) lastCleaned = now - HOUSEKEEPING_EVERY * 0.9
      keepReserve(folder, ROOM_BESIDE)
    } catch (error) {
      warn('Old events and files could not be removed', error)
    }
  }

  /** Removes files without a row. @returns false when there are no more */
  function removing(take: () => string[] | undefined): boolean {
    try {
      const files = take()
      if (files === undefined) return false
      removeLater(files)
    } catch (error) {
      warn('Files without a row could not be removed', error)
    }
    return true
  }

  /** Goes on with the search for files without a row, in turns with what is to be committed. */
  function searchOrphans(): void {
    if (closed) return
    if (removing(() => connection.current().orphans().next())) setTimeout(searchOrphans, SEARCH_EVERY).unref()
    else reply({ searched: true })
  }

  const settle = () => connection.current().database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const room: Room = { folder, warn, settle }

  /** Brings what was committed from the log into the main file, as far as nobody has to be waited for. */
  function leaveInOneFile(): void {
    try {
      connection.current().database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // Such as on a full disk: it is in the log, where whoever opens the store next finds it.
    }
  }

  function isRefused(answer: JobResult): boolean {
    return 'error' in answer && answer.error.reason === 'unwritable'
  }

  /** Of jobs that have not come yet. */
  const guards = new Map<number, Guard[]>()

  function keepGuards(message: Extract<WriterMessage, { guards: unknown }>): void {
    const kept = guards.get(message.job) ?? []
    for (const guard of message.guards) kept.push(guard)
    guards.set(message.job, kept)
  }

  function takeGuards(job: WriterJob): void {
    if (job.task !== 'commit' || job.sent === undefined) return
    const kept = guards.get(job.id)
    if (kept?.length !== job.sent) throw new Error('Guards of a commit are missing')
    guards.delete(job.id)
    job.commit.guards = kept
  }

  function work(first: WriterMessage): void {
    const arrived: Arrived[] = []
    const buffers: ArrayBuffer[] = []
    const asked: { read: BodyPlace; id: number }[] = []
    /** Of messages that say what time it is: reads do not. */
    let now: number | undefined
    let closing = false
    let stays = false
    for (let message: WriterMessage | undefined = first; message !== undefined; ) {
      if ('jobs' in message) {
        for (const job of message.jobs) {
          takeGuards(job)
          arrived.push({ job, bytes: message.bytes })
        }
        buffers.push(message.bytes)
      } else if ('guards' in message) keepGuards(message)
      else if ('read' in message) asked.push(message)
      else if ('housekeeping' in message) now = message.housekeeping
      else if ('close' in message) {
        closing = true
        stays = message.stays === true
      }
      message = receiveMessageOnPort(port)?.message
    }
    for (let from = 0; from < arrived.length; from += GROUP) {
      const group = arrived.slice(from, from + GROUP)
      const { writer } = connection.current()
      const answers = commitWithin(room, group, stuck => runGroup(writer, stuck))
      if (answers.some(isRefused)) connection.renew()
      reply({ answers })
      now = Math.max(now ?? 0, group.at(-1)?.job.at ?? 0)
    }
    for (const each of asked) read(each.read, each.id)
    // The collector of this small thread would let tens of megabytes of them come together.
    for (const bytes of buffers) bytes.transfer(0)
    if (closing) {
      closed = true
      take = nothing
      leaveInOneFile()
      connection.current().close()
      if (stays) reply({ free: true })
      else port.close()
      replies.close()
    } else if (now !== undefined) housekeeping(now)
  }

  if (search) setTimeout(searchOrphans, SEARCH_EVERY).unref()
  return work
}

const nothing = (_: WriterMessage): void => {}
/** What the store that is open makes of a message. */
let take = nothing

port.on('message', (message: WriterMessage | { serve: WriterData }) => {
  if ('serve' in message) take = serve(message.serve)
  else take(message)
})
