/**
 * The embedded store: one SQLite database and a folder of large blobs. One thread writes, the caller's thread reads, and
 * several processes may have the same folder open.
 */

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import { Acceptance } from '../acceptance.ts'
import type { StagedBlob, StagingOptions } from '../blobs.ts'
import type { Change, Commit, CommitResult } from '../commit.ts'
import { createDigestThreads } from '../disk/digests.ts'
import { checkPrivate, makeFolder, prepareFolders } from '../disk/folder.ts'
import { createProvenFiles } from '../disk/proven-files.ts'
import { keepReserve, ROOM_BESIDE } from '../disk/reserve.ts'
import { createStaging } from '../disk/staging.ts'
import { StoreError } from '../errors.ts'
import { packEntries } from '../packed-entries.ts'
import { allChanges, checkChange, isTooLarge, namesIn } from '../records/changes.ts'
import type { EventLimits } from '../records/events.ts'
import { checkNotes } from '../records/notes.ts'
import type { SiteStore, Snapshot, Store } from '../store.ts'
import { createChecksums } from './checksums.ts'
import { prepareForeign } from './commit/commit-log.ts'
import { prepareNotes } from './commit/notes.ts'
import { holdsBlobs } from './housekeeping/orphaned-blobs.ts'
import { prepareOverdue } from './housekeeping/retention.ts'
import { prepareReader, readSite } from './read/reader.ts'
import { connectReader, LOCK_WAIT, limitPages, prepareTables, relaxPages } from './schema.ts'
import { inTime } from './turn.ts'
import { packChange, packEvents } from './writer/packing.ts'
import { type Cargo, type Log, type NewJob, startWriter } from './writer/writer.ts'

export interface SqliteOptions {
  /** Folder of the database and the blobs; made when absent. */
  folder: string
  /** Unix milliseconds; `Date.now` by default. */
  clock?: () => number
  /** Bytes up to which blobs are kept in the database; 256 KiB by default. Documents always are. */
  inlineLimit?: number
  /** Milliseconds that events are kept; 10 minutes by default (EVT-46). */
  eventRetention?: number
  /** How many events are kept of each path of a site; 10,000 and 16 MiB by default (EVT-46). */
  eventLimits?: (site: string) => EventLimits | undefined
  /** Milliseconds that a commit waits for another process before it fails as `busy`; 5 seconds by default. */
  lockWait?: number
  /** Names that have no line in the sum of their collection: helper files that are not listed (DAV-75). */
  unlisted?: (name: string) => boolean
  /** Other processes have the folder open as well: each is told of what the others commit. */
  shared?: boolean
  /** Bytes of pages kept in memory; 64 MiB by default. */
  pages?: number
  /** Milliseconds without a new body after which checksums that nobody has asked for are computed; 2 seconds by default. */
  quiet?: number
  /** Told of failures in the background. */
  log?: Log
  /** Threads that wait for a store to write for, and that it leaves there when it is closed; by default its own ends with it. */
  freeThreads?: Worker[]
}

/** Bytes that are in memory already have passed every limit. */
const NO_LIMIT = { limit: Number.POSITIVE_INFINITY }

const SITE_NAMES = 'SELECT name FROM site ORDER BY name'

/** The writer's part of the pages. */
const WRITING = 1 / 2

/** Whether a change stores a file whose SHA-1 and MD5 are not known. */
function lacksChecksums(change: Change): boolean {
  if (change.op !== 'put' || !('staged' in change.content)) return false
  const { place, sha1 } = change.content.staged
  return place !== undefined && sha1 === undefined
}

function refusesWrites(error: unknown): boolean {
  return error instanceof StoreError && (error.reason === 'full' || error.reason === 'unwritable')
}

/** Milliseconds between two rounds of cleaning when nothing is written. */
const IDLE_HOUSEKEEPING = 30_000

/**
 * Opens the store in a folder.
 * @throws Error when the folder cannot be used or was written by a newer release
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const {
    folder,
    clock = Date.now,
    inlineLimit = 256 * 1024,
    eventRetention = 600_000,
    unlisted,
    lockWait = LOCK_WAIT,
    pages = 64 * 1024 * 1024,
  } = options
  const origin = options.shared ? randomUUID() : undefined
  const log: Log = options.log ?? (() => undefined)
  makeFolder(folder)
  checkPrivate(folder, (message, details) => log('warn', message, details))
  prepareTables(folder)
  prepareFolders(folder)
  keepReserve(folder, ROOM_BESIDE)
  const threads = createDigestThreads()
  const staging = createStaging(folder, inlineLimit, threads)
  await staging.clean()
  const ofReader = pages * (1 - WRITING)
  const connect = () => connectReader(folder, ofReader)
  const database = connect()
  const writing = { folder, eventRetention, lockWait, origin, pages: pages * WRITING, search: holdsBlobs(folder) }
  const writer = startWriter(writing, log, prepareOverdue(database, eventRetention), options.freeThreads)
  const files = createProvenFiles(folder)
  const common = { files, clock, eventRetention, opened: clock() }
  const checksums = createChecksums({
    database,
    folder,
    threads,
    store: (digest, sums) => writer.submit({ task: 'checksums', at: clock(), digest, ...sums }, []),
    quiet: options.quiet,
  })
  const reader = prepareReader({ database, ...common, connect, checksums: checksums.of, readAside: writer.read })
  const settings = database.prepare<{ value: string }>('SELECT value FROM setting WHERE name = ?')
  const siteNames = database.prepare<{ name: string }>(SITE_NAMES)
  // The writer has as much.
  let ofBoth = 2 * limitPages(database, ofReader)
  const idle = setInterval(() => {
    try {
      ofBoth = 2 * limitPages(database, ofReader)
      writer.housekeeping(clock())
    } catch (error) {
      // It is looked after again in a while, and whoever asks for something meanwhile is told.
      log('warn', 'The data folder could not be looked after', { error: String(error) })
    }
  }, IDLE_HOUSEKEEPING).unref()

  /** A change with its bytes in a file, where they are a blob too large for the database. */
  async function unload(change: Change, own: StagedBlob[]): Promise<Change> {
    if (!isTooLarge(change, inlineLimit)) return change
    const staged = await stage(Readable.from([change.content.bytes], { objectMode: false }), NO_LIMIT)
    own.push(staged)
    return { ...change, content: { staged } }
  }

  /** Hands a commit over; without delay, so that commits are carried out in the order of their calls. */
  async function submit(
    site: string,
    commit: Commit,
    eventLimits?: EventLimits,
    until?: number,
  ): Promise<CommitResult> {
    const cargo: Cargo[] = []
    const { beside, ...own } = commit
    const pack = (changes: readonly Change[]) => changes.map(each => packChange(each, cargo, origin === undefined))
    const hidden = unlisted === undefined ? [] : [...new Set(allChanges(commit).flatMap(namesIn))].filter(unlisted)
    const job: NewJob = {
      task: 'commit',
      at: clock(),
      site,
      commit: {
        ...own,
        changes: pack(commit.changes),
        events: packEvents(commit),
        ...(beside && { beside: { ...beside, changes: pack(beside.changes) } }),
      },
      unlisted: hidden,
      eventLimits,
      ...(until !== undefined && { until }),
    }
    const result = await writer.submit(job, cargo).catch((error: unknown) => {
      writes.failed(error)
      throw error
    })
    if (result === undefined) throw new StoreError('failed', 'The writing thread gave no answer')
    if (result.ok && !writes.takesWrites) writes.taken()
    if (commit.changes.some(lacksChecksums)) checksums.lookLater()
    return result
  }

  const writes = new Acceptance('The data folder', refusesWrites, log)

  function openSite(name: string): SiteStore {
    const eventLimits = options.eventLimits?.(name)
    return {
      name,
      ...readSite(reader, name),
      async commit({ confirm, ...commit }) {
        for (const change of allChanges(commit)) checkChange(change)
        if (commit.notes) checkNotes(commit.notes)
        const handOver = (ready: Commit) =>
          confirm ? inTime(confirm, until => submit(name, ready, eventLimits, until)) : submit(name, ready, eventLimits)
        if (!commit.changes.some(change => isTooLarge(change, inlineLimit))) return handOver(commit)
        const own: StagedBlob[] = []
        try {
          const changes: Change[] = []
          for (const change of commit.changes) changes.push(await unload(change, own))
          return await handOver({ ...commit, changes })
        } finally {
          for (const staged of own) await staged.discard()
        }
      },
      async derive({ path, version }, derived, entries) {
        const packed = entries && { entries: packEntries(entries) }
        await writer.submit({ task: 'derive', at: clock(), site: name, path, version, derived, ...packed }, [])
      },
    }
  }

  async function snapshot<Result>(work: (state: Snapshot) => Promise<Result>): Promise<Result> {
    const steady = connect()
    try {
      steady.exec('BEGIN')
      // The state is that of the first read.
      const names = steady
        .prepare<{ name: string }>(SITE_NAMES)
        .all()
        .map(({ name }) => name)
      const frozen = prepareReader({ database: steady, ...common })
      return await work({ site: name => readSite(frozen, name), sites: async () => names })
    } finally {
      steady.close()
    }
  }

  async function stage(body: Readable, options: StagingOptions): Promise<StagedBlob> {
    const arrived = checksums.arrives()
    try {
      // Processes of an earlier release would take checksums that are missing for known ones.
      return await staging.stage(body, origin === undefined ? options : { ...options, checksums: true })
    } finally {
      arrived()
    }
  }

  async function close(): Promise<void> {
    clearInterval(idle)
    checksums.close()
    await threads.close()
    await Promise.all([reader.slow.end(), writer.close()])
    database.close()
  }
  let closing: Promise<void> | undefined

  return {
    ...(origin !== undefined && {
      foreign: prepareForeign(database, origin),
      async outlast() {
        await writer.submit({ task: 'turn', at: clock() }, [])
      },
    }),
    takesWrites: () => writes.takesWrites,
    site: openSite,
    async sites() {
      return siteNames.all().map(({ name }) => name)
    },
    snapshot,
    stage,
    async setting(name) {
      return settings.get(name)?.value
    },
    async setSetting(name, value, { unlessSet = false } = {}) {
      await writer.submit({ task: 'setting', at: clock(), name, value, unlessSet }, [])
    },
    ...prepareNotes(database, clock),
    async changeNotes(changes) {
      checkNotes(changes)
      if (changes.length > 0) await writer.submit({ task: 'notes', at: clock(), changes }, [])
    },
    pages: {
      get bytes() {
        return ofBoth
      },
      shrink(bytes) {
        if (bytes >= ofBoth) return
        limitPages(database, bytes / 2)
        limitPages(database, ofReader)
        ofBoth = ofBoth / 2 + bytes / 2
      },
    },
    relax() {
      staging.relax()
      threads.relax()
      relaxPages(database)
      writer.relax()
    },
    close: () => (closing ??= close()),
  }
}
