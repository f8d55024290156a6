/** What a site's part of the store reads, on the calling thread, through statements compiled once per connection. */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Body } from '../../blobs.ts'
import type { WeakDigests } from '../../disk/digests.ts'
import type { ProvenFiles } from '../../disk/proven-files.ts'
import { namesCollection, splitPath } from '../../paths.ts'
import { COLUMNS, type MemberTuple, memberOf, pathOf, type ResourceRow, resourceOf } from '../../records/rows.ts'
import type { Property, Resource } from '../../resource.ts'
import type { SiteStore } from '../../store.ts'
import { ZERO } from '../../tags.ts'
import { inPages, walk } from '../../walk.ts'
import type { Database } from '../database.ts'
import type { BodyPlace, ReadBody } from '../writer/messages.ts'
import { prepareBody } from './body.ts'
import { type EntryReader, type Found, prepareEntryReader } from './entry-reader.ts'
import { type EventReader, prepareEvents } from './event-reader.ts'
import { createSlowReads, LISTING, MEMBERS, type SlowReads } from './slow-reads.ts'

/** Members read at once. */
const PAGE = 512

/** Pieces of derived data sorted at once: more are found by walking the site. */
const SORTED = 2048

/** Bytes of a body that takes its connection more than a few milliseconds to read. */
const LARGE = 4 * 1024 * 1024

/** Properties of members that are read in one turn, and those that a member has with one of the next. */
const PROPERTIES = 4096
const PROPERTIES_OF_ONE = 257

/** Everything that reading needs from the store. */
export interface ReaderContext {
  database: Database
  files: ProvenFiles
  clock: () => number
  /** Milliseconds. */
  eventRetention: number
  /** Unix milliseconds shown as the times of roots of sites that nobody has written to. */
  opened: number
  /**
   * A second connection, for reads that have to see one state over several turns of the event loop; undefined where the
   * first one sees a single state.
   */
  connect?: () => Database
  /** Computes SHA-1 and MD5 of a blob that has none yet; without it, they are unknown. @param digest its SHA-256 */
  checksums?: (digest: string) => Promise<WeakDigests | undefined>
  /** Reads a large body on another thread; absent where only this connection sees the state that is read. */
  readAside?: (place: BodyPlace) => Promise<ReadBody>
}

/** The reading half of a site. */
export type SiteReader = Omit<SiteStore, 'name' | 'commit' | 'derive'>

/** A page of the files below a collection whose bytes are in files of their own. */
export const KEPT_APART = `SELECT ${COLUMNS} FROM resource INDEXED BY resource_apart
  WHERE in_file = 1 AND site = ? AND (folder, name) > (?, ?) AND folder < ?
  ORDER BY folder, name LIMIT ?`

/** The value of a property, if it is one of those that are asked for. */
const WANTED = `CASE WHEN ?1 IS NULL OR property.name || ' ' || namespace IN (SELECT value FROM json_each(?1))
       THEN property.value ELSE '' END`

const PROPERTIES_BETWEEN = `FROM resource JOIN property ON property.id = resource.id
       WHERE site = ?2 AND folder = ?3 AND resource.name BETWEEN ?4 AND ?5 AND properties IS NOT NULL
       ORDER BY resource.name LIMIT ?6`

function prepareReads(database: Database) {
  return {
    site: database.prepare<{ id: number }>('SELECT id FROM site WHERE name = ?'),
    find: database.prepare<ResourceRow>(`SELECT ${COLUMNS} FROM resource WHERE site = ? AND folder = ? AND name = ?`),
    members: database.prepareTuples<MemberTuple>(MEMBERS),
    apart: database.prepare<ResourceRow>(KEPT_APART),
    body: prepareBody(database),
    digests: database.prepare<WeakDigests>('SELECT sha1, md5 FROM blob WHERE digest = ?'),
    entries: database.prepare<{ lines: string }>(
      `SELECT lines FROM resource JOIN entry_text ON entry_text.id = resource.id
       WHERE site = ? AND folder = ? AND name = ?`,
    ),
    derived: database.prepare<{ version: number; value: string }>(
      `SELECT version, value FROM resource JOIN derived ON derived.id = resource.id
       WHERE resource.site = ? AND folder = ? AND resource.name = ? AND derived.name = ?`,
    ),
    countDerived: database.prepare<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM derived WHERE site = ? AND name = ? LIMIT ${SORTED + 1})`,
    ),
    placesOfDerived: database.prepare<{ path: string }>(
      `SELECT folder || resource.name AS path FROM derived JOIN resource ON resource.id = derived.id
       WHERE derived.site = ? AND derived.name = ? ORDER BY path`,
    ),
    properties: database.prepare<Property>(
      `SELECT namespace, property.name AS name, value FROM resource JOIN property ON property.id = resource.id
       WHERE site = ? AND folder = ? AND resource.name = ?`,
    ),
    propertiesBetween: database.prepareTuples<
      [name: string, kind: number, namespace: string, local: string, value: string]
    >(`SELECT resource.name, kind, namespace, property.name, ${WANTED} ${PROPERTIES_BETWEEN}`),
    // Values that lie on pages of their own are not read.
    sizeBetween: database.prepare<{ bytes: number }>(
      `SELECT total(bytes) AS bytes FROM
       (SELECT octet_length(namespace) + octet_length(property.name) + octet_length(${WANTED}) AS bytes
        ${PROPERTIES_BETWEEN})`,
    ),
    counters: database.prepare<{ name: string; value: number }>('SELECT name, value FROM counter WHERE site = ?'),
    progress: database.prepare<{ version: number }>('SELECT version FROM progress'),
  }
}

/** Compiled reads of a connection, shared by all sites. */
export interface Reader {
  context: ReaderContext
  reads: ReturnType<typeof prepareReads>
  events: EventReader
  entries: EntryReader
  slow: SlowReads
}

export function prepareReader(context: ReaderContext): Reader {
  const { database } = context
  const entries = prepareEntryReader(database)
  const slow = createSlowReads(context)
  return { context, reads: prepareReads(database), events: prepareEvents(context), entries, slow }
}

/** Root of a site without commits: an empty collection. */
function emptyRoot(opened: number): Resource {
  const times = { created: opened, modified: opened, sameSecond: false }
  return {
    path: '/',
    kind: 'collection',
    version: 0,
    digest: '',
    size: 0,
    type: '',
    ...times,
    properties: ZERO,
    members: ZERO,
  }
}

/** Bytes hashed in one turn of the event loop. */
const SLICE = 1 << 20

/** SHA-1 and MD5 of bytes; long ones leave the event loop its turns. */
async function digestsOf(bytes: Uint8Array): Promise<WeakDigests> {
  const [sha1, md5] = [createHash('sha1'), createHash('md5')]
  for (let from = 0; from < bytes.length; from += SLICE) {
    if (from > 0) await setImmediate()
    const slice = bytes.subarray(from, from + SLICE)
    sha1.update(slice)
    md5.update(slice)
  }
  return { sha1: sha1.digest('hex'), md5: md5.digest('hex') }
}

/** A look-up that finds, or looks at, too much for one turn. */
async function lookUpSlowly(
  looking: ReturnType<EntryReader['lookingUp']>,
  turn: () => Promise<void>,
): Promise<Found[]> {
  for (let step = looking.next(); ; step = looking.next()) {
    if (step.done) return step.value
    await turn()
  }
}

/** Reads of one site. @param name of the site; it need not exist yet */
export function readSite({ context, reads, events, entries, slow }: Reader, name: string): SiteReader {
  let known: number | undefined
  /** Number of the site; 0, which no site has, before its first commit. */
  const site = (): number => (known ??= reads.site.get(name)?.id) ?? 0

  function findNamed(path: string): Resource | undefined {
    const { folder, name } = splitPath(path)
    const id = site()
    const row = id === 0 ? undefined : reads.find.get(id, folder, name)
    if (row !== undefined) return resourceOf(row)
    return path === '/' ? emptyRoot(context.opened) : undefined
  }

  async function body(resource: Resource): Promise<Body | undefined> {
    const place: BodyPlace = { site: site(), ...splitPath(resource.path), version: resource.version }
    const { readAside } = context
    const read =
      readAside && resource.size >= LARGE && resource.kind === 'document' ? await readAside(place) : reads.body(place)
    if (read === undefined) return undefined
    if (read === 'file') return { blob: context.files.blob(resource.digest, resource.size) }
    return { bytes: read }
  }

  function derived(path: string, kind: string) {
    const { folder, name } = splitPath(path)
    return reads.derived.get(site(), folder, name, kind)
  }

  const page = (collection: string, after: string): Resource[] =>
    reads.members.all(site(), collection, after, PAGE).map(row => memberOf(collection, row))

  return {
    async find(path) {
      const found = findNamed(path)
      return found?.path === path ? found : undefined
    },
    findNamed: async path => findNamed(path),
    body,
    async checksums(resource) {
      const content = await body(resource)
      if (content === undefined) return undefined
      if (!('blob' in content)) return digestsOf(content.bytes)
      const known = reads.digests.get(resource.digest)
      return known?.sha1 === '' ? context.checksums?.(resource.digest) : known
    },
    async list(collection) {
      const rows = reads.members.all(site(), collection, '', LISTING)
      if (rows.length === LISTING) return slow.list(site(), collection)
      return rows.map(row => memberOf(collection, row))
    },
    async *walk(prefix, { collections = false } = {}) {
      if (!namesCollection(prefix)) return
      for await (const resource of walk(page, prefix)) {
        if (collections || resource.kind !== 'collection') yield resource
      }
    },
    keptApart: collection =>
      inPages(collection, (after, end) =>
        reads.apart.all(site(), after.folder, after.name, end, PAGE).map(row => resourceOf(row)),
      ),
    async derived(path, kind) {
      return derived(path, kind)?.value
    },
    async *allDerived(kind) {
      const few = (reads.countDerived.get(site(), kind)?.count ?? 0) <= SORTED
      const places = few ? reads.placesOfDerived.all(site(), kind) : walk(page, '/')
      for await (const { path } of places) {
        const found = derived(path, kind)
        if (found !== undefined) yield { path, ...found }
      }
    },
    async lookup(keys, limit = Number.MAX_SAFE_INTEGER) {
      const at = site()
      const found = entries.lookingUp(at, keys, limit).next()
      if (found.done) return found.value
      return slow.of((database, turn) => lookUpSlowly(prepareEntryReader(database).lookingUp(at, keys, limit), turn))
    },
    async entries(path) {
      const { folder, name } = splitPath(path)
      return reads.entries.get(site(), folder, name)?.lines ?? ''
    },
    async properties(path) {
      const { folder, name } = splitPath(path)
      return reads.properties.all(site(), folder, name)
    },
    async propertiesBetween(first, last, { values, most = Number.POSITIVE_INFINITY } = {}) {
      const { folder, name } = splitPath(first)
      const wanted = values === undefined ? null : JSON.stringify(values.map(each => `${each.name} ${each.namespace}`))
      const found = new Map<string, Property[]>()
      let [from, room, atOnce] = [name, most, PROPERTIES]
      for (;;) {
        const asked = [wanted, site(), folder, from, splitPath(last).name, atOnce] as const
        const bytes = reads.sizeBetween.get(...asked)?.bytes ?? 0
        if (bytes > room) return undefined
        if (bytes > LARGE && atOnce === PROPERTIES) {
          atOnce = PROPERTIES_OF_ONE
          continue
        }
        const rows = reads.propertiesBetween.all(...asked)
        // The last may have more.
        const next = rows.length < atOnce ? undefined : rows.at(-1)?.[0]
        if (next !== undefined && next === rows[0]?.[0]) {
          atOnce *= 2
          continue
        }
        for (const [member, kind, namespace, local, value] of rows) {
          if (member === next) break
          room -= Buffer.byteLength(namespace) + Buffer.byteLength(local) + Buffer.byteLength(value)
          const path = pathOf({ folder, name: member, kind })
          const known = found.get(path)
          const property = { namespace, name: local, value }
          if (known) known.push(property)
          else found.set(path, [property])
        }
        if (next === undefined) return found
        ;[from, atOnce] = [next, PROPERTIES]
        await setImmediate()
      }
    },
    async counters() {
      return Object.fromEntries(reads.counters.all(site()).map(({ name, value }) => [name, value]))
    },
    async version() {
      return reads.progress.get()?.version ?? 0
    },
    events: async (path, after, limit) => events.ofPath(site(), path, after, limit),
    allEvents: async (after, limit) => events.ofSite(site(), after, limit),
    newestEvent: async path => events.newest(site(), path),
    continuous: async (path, after) => events.continuous(site(), path, after),
    keepsAfter: async (path, id) => events.keepsAfter(site(), path, id),
  }
}
