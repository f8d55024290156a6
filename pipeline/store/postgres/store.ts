/**
 * The store of several machines: one PostgreSQL database for documents, blobs and events. Any number of processes have it
 * open; each writes over one connection and reads over a few.
 */

import { randomUUID } from 'node:crypto'
import { Acceptance } from '../acceptance.ts'
import type { Commit, CommitResult } from '../commit.ts'
import { NoAnswer, Unusable } from '../errors.ts'
import type { Note } from '../notes.ts'
import type { Objects } from '../objects/objects.ts'
import { packEntries } from '../packed-entries.ts'
import { allChanges, checkChange, namesIn } from '../records/changes.ts'
import type { EventLimits } from '../records/events.ts'
import { checkNotes, END } from '../records/notes.ts'
import type { SiteStore, Store } from '../store.ts'
import { databaseName, unusable } from './address.ts'
import { requireHome, settleHome } from './blobs/home.ts'
import { intoObject } from './blobs/objects.ts'
import { markOwner } from './blobs/owner.ts'
import { createStaging, intoChunks } from './blobs/staging.ts'
import { needsUnloading, unload } from './blobs/unload.ts'
import type { Use } from './claim.ts'
import { connectPrimary, type DatabaseAddress, drop, patiently, refusesWrites, storeError } from './connection.ts'
import { readForeign } from './foreign.ts'
import { HOLD_OBJECTS, startCollecting } from './housekeeping/objects.ts'
import { openPool, type Reading } from './read/pool.ts'
import { readSite } from './read/reader.ts'
import { prepareTables } from './schema.ts'
import { type Session, sessionOn } from './session.ts'
import { pack, unpack } from './text.ts'
import { watchDatabase } from './watch.ts'
import { type Log, startWriter } from './writer.ts'

export interface PostgresOptions extends DatabaseAddress {
  /** Unix milliseconds; the database's by default, so that all processes have one clock. */
  clock?: () => number
  /** Bytes up to which blobs are kept in one piece; 256 KiB by default. Documents always are. */
  inlineLimit?: number
  /** Milliseconds that events are kept; 10 minutes by default (EVT-46). */
  eventRetention?: number
  /** How many events are kept of each path of a site; 10,000 and 16 MiB by default (EVT-46). */
  eventLimits?: (site: string) => EventLimits | undefined
  /** Milliseconds that a commit waits for other processes before it fails as `busy`; 5 seconds by default. */
  lockWait?: number
  /** Names that have no line in the sum of their collection: helper files that are not listed (DAV-75). */
  unlisted?: (name: string) => boolean
  /** Other processes have the database open as well: each is told of what the others commit. */
  shared?: boolean
  /** What the database is claimed for; whoever only looks claims nothing. */
  use?: Use
  /** Connections for reading at most; 4 by default. */
  connections?: number
  /** Told of failures in the background. */
  log?: Log
  /** Takes blobs instead of the database, and is closed with the store. */
  objects?: Objects | undefined
  /** The installation whose backup or data are brought into the database. */
  installation?: string | undefined
  /** Opens the store without its blobs while what keeps them does not answer: they are there as soon as it does. */
  withoutBlobs?: boolean
}

/** Milliseconds between two rounds of cleaning when nothing is written. */
const IDLE_HOUSEKEEPING = 30_000

/** Connections for bodies on their way in. */
const UPLOADS = 2

async function siteNames(session: Session): Promise<string[]> {
  return (await session.rows<{ name: string }>('SELECT name FROM site ORDER BY name')).map(({ name }) => name)
}

/**
 * Sees that blobs can be kept in an object store, and notes there and here that they are.
 *
 * @throws Unusable, NoAnswer
 */
async function moveIn(
  session: Session,
  objects: Objects,
  { installation, log }: Pick<PostgresOptions, 'installation' | 'log'>,
): Promise<void> {
  await objects.prove()
  const doubt = await markOwner(session, objects, installation)
  await settleHome(session, objects)
  if (doubt !== undefined) log?.('warn', doubt, {})
}

/**
 * Makes the tables, where that is to be done, and sees that blobs are where they should be.
 *
 * @throws NoAnswer, Unusable when the database or the object store cannot be used
 */
async function prepare(address: DatabaseAddress, options: PostgresOptions): Promise<void> {
  const { objects, use } = options
  let client: Awaited<ReturnType<typeof connectPrimary>> | undefined
  try {
    client = await patiently(() => connectPrimary(address, 'start'))
    await prepareTables(client, address)
    const session = sessionOn(client)
    await requireHome(session, objects)
    if (objects !== undefined && use !== undefined) await moveIn(session, objects, options)
  } catch (cause) {
    throw cause instanceof Unusable && cause.message.startsWith('s3:') ? cause : unusable(address, cause)
  } finally {
    await client?.end().catch(() => client && drop(client))
  }
}

/**
 * Opens the store in a database.
 * @throws Unusable when the database cannot be reached or used, or was written by a newer release
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, others, passwordFile, schema, inlineLimit = 256 * 1024, eventRetention = 600_000 } = options
  const { unlisted, lockWait = 5000, connections = 4, objects } = options
  const log: Log = options.log ?? (() => undefined)
  // It changes when another host takes the place of the first.
  const address: DatabaseAddress = { url, others, passwordFile, schema }
  const away = await prepare(address, options).then(
    () => undefined,
    (error: Error) => {
      if (options.withoutBlobs && error instanceof NoAnswer) return error
      objects?.close()
      throw error
    },
  )
  const watch = watchDatabase(address, log, randomUUID(), options.use)
  const { requireThere } = watch
  const { clock = watch.now } = options
  const from = await patiently(watch.news).catch(async (error: Error) => {
    await watch.close()
    objects?.close()
    throw error.cause instanceof Unusable
      ? new Unusable(`the database ${databaseName(address)} is taken: ${error.cause.message}`)
      : error
  })
  const reads = openPool(address, { name: 'reader', size: connections, requireThere })
  const settings = ['SET synchronous_commit = off']
  const uploads = openPool(address, { name: 'uploads', size: UPLOADS, requireThere, settings })
  const foreign = readForeign({ reads, watch, from, isAlone: !options.shared })
  if (options.shared) watch.tellFrom(foreign)
  const { committed, doubt, origin, life } = foreign
  const { now } = watch
  const writer = startWriter({
    address,
    eventRetention,
    lockWait,
    origin,
    log,
    requireThere,
    life,
    committed,
    doubt,
    now,
  })
  if (objects !== undefined && away !== undefined) {
    log('error', 'The object store does not answer: large files are 503 until it does', { error: away.message })
    objects.loseUntil(() => moveIn(reads, objects, options).catch(refused))
  }
  const stageChunks = createStaging(() => intoChunks(uploads), inlineLimit)
  const stage = objects ? createStaging(() => intoObject(objects, reads), inlineLimit) : stageChunks
  const unloading = { reads, inlineLimit, objects, stage, stageChunks }
  if (options.use !== undefined) objects?.watch()
  const collecting = objects && options.use !== undefined ? startCollecting(address, reads, objects) : undefined
  const context = { reads, objects, clock, eventRetention, opened: clock() }
  const idle = setInterval(() => writer.housekeeping(clock()), IDLE_HOUSEKEEPING).unref()
  for (const connected of [writer, reads, uploads]) watch.onAway(connected.interrupt)

  let told: string | undefined
  /** An object store that answers, and cannot be used all the same, is told of. */
  function refused(error: Error): never {
    const { message } = error
    if (error instanceof Unusable && !(error instanceof NoAnswer) && message !== told) log('error', message, {})
    told = message
    throw error
  }

  /** Hands a commit over; without delay, so that commits are carried out in the order of their calls. */
  async function submit(site: string, commit: Commit, chunks?: ReadonlyMap<string, string>): Promise<CommitResult> {
    const hidden = unlisted === undefined ? [] : [...new Set(allChanges(commit).flatMap(namesIn))].filter(unlisted)
    const eventLimits = options.eventLimits?.(site)
    const job = { at: clock(), site, commit, unlisted: new Set(hidden), eventLimits, chunks }
    const result = await writer.submit({ task: 'commit', ...job }).catch((error: unknown) => {
      writes.failed(error)
      throw error
    })
    if (result === undefined) throw storeError(new Error('A commit has no result'))
    if (result.ok && !writes.takesWrites) writes.taken()
    return result
  }

  const writes = new Acceptance('PostgreSQL', refusesWrites, log)

  function openSite(name: string): SiteStore {
    return {
      name,
      ...readSite(context, name),
      async commit(commit) {
        for (const change of allChanges(commit)) checkChange(change)
        if (!needsUnloading(commit, unloading)) return submit(name, commit)
        const unloaded = await unload(name, commit, unloading)
        try {
          return await submit(name, unloaded.commit, unloaded.chunks)
        } finally {
          await unloaded.discard()
        }
      },
      async derive({ path, version }, derived, entries) {
        const packed = entries && packEntries(entries)
        await writer.submit({ task: 'derive', at: clock(), site: name, path, version, derived, entries: packed })
      },
    }
  }

  async function close(): Promise<void> {
    clearInterval(idle)
    await collecting?.close()
    await writer.close()
    objects?.close()
    await Promise.all([watch.close(), reads.close(), uploads.close()])
  }
  let closing: Promise<void> | undefined

  const noteOf = ({ key, value, expires }: Note): Note => ({ key: unpack(key), value: unpack(value), expires })
  return {
    foreign,
    ...(options.shared && {
      // The database goes on with a COMMIT whose process is gone, for longer than its leases if the disk or a replica is slow.
      async outlast() {
        await writer.submit({ task: 'turn', at: clock() })
      },
    }),
    now: clock,
    takesWrites: () => writes.takesWrites,
    isReachable: () => watch.awaySince() === undefined,
    ...(objects && { hasBlobs: objects.isThere }),
    site: openSite,
    sites: () => siteNames(reads),
    snapshot: work =>
      reads.inOneState(async session => {
        const steady: Reading = { ...session, inOneState: within => within(session) }
        return work({
          site: name => readSite({ ...context, reads: steady }, name),
          sites: () => siteNames(session),
        })
      }, objects && HOLD_OBJECTS),
    stage,
    relax: () => objects?.relax(),
    async setting(name) {
      const row = await reads.row<{ value: string }>('SELECT value FROM setting WHERE name = $1', pack(name))
      return row && unpack(row.value)
    },
    async setSetting(name, value, { unlessSet = false } = {}) {
      await writer.submit({ task: 'setting', at: clock(), name, value, unlessSet })
    },
    async note(key) {
      const row = await reads.row<Note>(
        'SELECT key, value, expires FROM note WHERE key = $1 AND expires > $2',
        pack(key),
        clock(),
      )
      return row && noteOf(row)
    },
    async notes(prefix) {
      if (prefix === '') return []
      const rows = await reads.rows<Note>(
        'SELECT key, value, expires FROM note WHERE key >= $1 AND key < $2 AND expires > $3 ORDER BY key',
        pack(prefix),
        pack(prefix) + END,
        clock(),
      )
      return rows.map(noteOf)
    },
    async noteKeys(prefix, after, most) {
      if (prefix === '') return []
      const rows = await reads.rows<Pick<Note, 'key'>>(
        'SELECT key FROM note WHERE key >= $1 AND key > $2 AND key < $3 AND expires > $4 ORDER BY key LIMIT $5',
        pack(prefix),
        pack(after),
        pack(prefix) + END,
        clock(),
        most,
      )
      return rows.map(({ key }) => unpack(key))
    },
    async changeNotes(changes) {
      checkNotes(changes)
      if (changes.length > 0) await writer.submit({ task: 'notes', at: clock(), changes })
    },
    close: () => (closing ??= close()),
  }
}
