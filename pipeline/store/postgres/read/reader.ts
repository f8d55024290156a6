/** What a site's part of the store reads: every answer is one indexed statement, or pages of them. */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Body } from '../../blobs.ts'
import { namesCollection, splitPath } from '../../paths.ts'
import { pathOf, resourceOf } from '../../records/rows.ts'
import type { Property, Resource } from '../../resource.ts'
import type { Loaded, SiteStore } from '../../store.ts'
import { ZERO } from '../../tags.ts'
import { inPages, walk } from '../../walk.ts'
import { type BlobSource, storedBlob } from '../blobs/stored.ts'
import { carriesAll, rarestFirst } from '../commit/entries.ts'
import { COLUMNS, type Row, rowOf } from '../rows.ts'
import type { Session } from '../session.ts'
import { pack, unpack } from '../text.ts'
import { readEvents } from './event-reader.ts'
import { findTogether, WHOLE, type WholeRow } from './find-together.ts'
import type { Reading } from './pool.ts'

/** Members read at once. */
const PAGE = 512

/** Members of a listing read at once: up to here it is one query. */
const LISTING = 4096

/** Pieces of derived data read at once. */
const DERIVED = 256

/** Properties of members put together in one turn. */
const PROPERTIES = 8192

/** Everything that reading needs from the store. */
export interface ReaderContext extends BlobSource {
  reads: Reading
  clock: () => number
  /** Milliseconds. */
  eventRetention: number
  /** Unix milliseconds shown as the times of roots of sites that nobody has written to. */
  opened: number
}

/** The reading half of a site. */
export type SiteReading = Omit<SiteStore, 'name' | 'commit' | 'derive'>

const MEMBERS = `SELECT ${COLUMNS} FROM resource r WHERE site = $1 AND folder = $2 AND name > $3 ORDER BY name LIMIT $4`
const APART = `SELECT ${COLUMNS} FROM resource r WHERE blob IS NOT NULL AND site = $1 AND (folder, name) > ($2, $3) AND folder < $4
  ORDER BY folder, name LIMIT $5`

/** Root of a site without commits: an empty collection. */
function emptyRoot(opened: number): Resource {
  const times = { created: opened, modified: opened, sameSecond: false }
  const sums = { properties: ZERO, members: ZERO }
  return { path: '/', kind: 'collection', version: 0, digest: '', size: 0, type: '', ...times, ...sums }
}

/** Bytes hashed in one turn of the event loop. */
const SLICE = 1 << 20

/** SHA-1 and MD5 of bytes; long ones leave the event loop its turns. */
async function digestsOf(bytes: Uint8Array): Promise<{ sha1: string; md5: string }> {
  const [sha1, md5] = [createHash('sha1'), createHash('md5')]
  for (let from = 0; from < bytes.length; from += SLICE) {
    if (from > 0) await setImmediate()
    const slice = bytes.subarray(from, from + SLICE)
    sha1.update(slice)
    md5.update(slice)
  }
  return { sha1: sha1.digest('hex'), md5: md5.digest('hex') }
}

async function pageOf(session: Session, site: number, collection: string, after: string, limit: number) {
  const rows = await session.rows<Row>(MEMBERS, site, collection, after, limit)
  return rows.map(row => resourceOf(rowOf(row)))
}

/** All members of a collection that is too large for one query, in one state, a page at a time. */
async function listSlowly(reads: Reading, site: number, collection: string): Promise<Resource[]> {
  return reads.inOneState(async session => {
    const found: Resource[] = []
    for (let after = ''; ; ) {
      const members = await pageOf(session, site, collection, after, LISTING)
      for (const member of members) found.push(member)
      const last = members.at(-1)
      if (last === undefined || members.length < LISTING) return found
      after = splitPath(last.path).name
    }
  })
}

const propertyOf = ({ namespace, name, value }: Property): Property => ({
  namespace: unpack(namespace),
  name: unpack(name),
  value: unpack(value),
})

/** Reads of one site. @param name of the site; it need not exist yet */
export function readSite(context: ReaderContext, name: string): SiteReading {
  const { reads, opened } = context
  let known: number | undefined
  /** Number of the site; 0, which no site has, before its first commit. */
  async function site(): Promise<number> {
    known ??= (await reads.row<{ id: number }>('SELECT id FROM site WHERE name = $1', name))?.id
    return known ?? 0
  }
  const place = findTogether(reads, site)
  const whole = findTogether<WholeRow>(reads, site, WHOLE('profile'))

  async function findNamed(path: string): Promise<Resource | undefined> {
    const { folder, name } = splitPath(path)
    const row = await place(folder, name)
    if (row !== undefined) return resourceOf(rowOf(row))
    return path === '/' ? emptyRoot(opened) : undefined
  }

  async function load(path: string): Promise<Loaded | undefined> {
    const { folder, name } = splitPath(path)
    const row = await whole(folder, name)
    if (row === undefined || pathOf(row) !== path) return undefined
    const { bytes, profile } = row
    return {
      resource: resourceOf(rowOf(row)),
      ...(bytes !== null && { body: { bytes } }),
      ...(profile !== null && { profile: unpack(profile) }),
    }
  }

  async function body({ path, version, digest, size }: Resource): Promise<Body | undefined> {
    const { folder, name } = splitPath(path)
    const row = await reads.row<{ in_blob: boolean; bytes: Uint8Array | null }>(
      `SELECT blob IS NOT NULL AS in_blob, bytes FROM resource LEFT JOIN body ON body.id = resource.body
       WHERE site = $1 AND folder = $2 AND name = $3 AND version = $4 AND kind <> 0`,
      await site(),
      folder,
      name,
      version,
    )
    if (row === undefined) return undefined
    return row.in_blob ? { blob: storedBlob(context, digest, size) } : { bytes: row.bytes ?? new Uint8Array() }
  }

  const page = async (collection: string, after: string) => pageOf(reads, await site(), collection, after, PAGE)

  return {
    async find(path) {
      const found = await findNamed(path)
      return found?.path === path ? found : undefined
    },
    findNamed,
    load,
    body,
    async checksums(resource) {
      const content = await body(resource)
      if (content === undefined) return undefined
      if ('blob' in content) return reads.row('SELECT sha1, md5 FROM blob WHERE digest = $1', resource.digest)
      return digestsOf(content.bytes)
    },
    async list(collection) {
      const members = await pageOf(reads, await site(), collection, '', LISTING)
      return members.length === LISTING ? listSlowly(reads, await site(), collection) : members
    },
    async *walk(prefix, { collections = false } = {}) {
      if (!namesCollection(prefix)) return
      for await (const resource of walk(page, prefix)) {
        if (collections || resource.kind !== 'collection') yield resource
      }
    },
    keptApart: collection =>
      inPages(collection, async (after, end) => {
        const rows = await reads.rows<Row>(APART, await site(), after.folder, after.name, end, PAGE)
        return rows.map(row => resourceOf(rowOf(row)))
      }),
    async derived(path, kind) {
      const { folder, name } = splitPath(path)
      const row = await reads.row<{ value: string }>(
        `SELECT value FROM resource r JOIN derived d ON d.id = r.id
         WHERE r.site = $1 AND r.folder = $2 AND r.name = $3 AND d.name = $4`,
        await site(),
        folder,
        name,
        pack(kind),
      )
      return row && unpack(row.value)
    },
    async entries(path) {
      const { folder, name } = splitPath(path)
      const row = await reads.row<{ lines: string }>(
        `SELECT lines FROM resource r JOIN entry_text e ON e.id = r.id
         WHERE r.site = $1 AND r.folder = $2 AND r.name = $3`,
        await site(),
        folder,
        name,
      )
      return row === undefined ? '' : unpack(row.lines)
    },
    async *allDerived(kind) {
      const number = await site()
      const places = await reads.rows<{ path: string }>(
        `SELECT r.folder || r.name AS path FROM derived d JOIN resource r ON r.id = d.id
         WHERE d.site = $1 AND d.name = $2 ORDER BY path`,
        number,
        pack(kind),
      )
      for (let from = 0; from < places.length; from += DERIVED) {
        const wanted = places
          .slice(from, from + DERIVED)
          .map(({ path }) => ({ path, site: number, ...splitPath(path) }))
        const rows = await reads.rows<{ path: string; version: number; value: string }>(
          `SELECT k.path, r.version, d.value
           FROM json_to_recordset($1::json)
             AS k (path text COLLATE "C", site bigint, folder text COLLATE "C", name text COLLATE "C")
           JOIN resource r ON r.site = k.site AND r.folder = k.folder AND r.name = k.name
           JOIN derived d ON d.id = r.id AND d.name = $2 ORDER BY k.path`,
          JSON.stringify(wanted),
          pack(kind),
        )
        for (const { path, version, value } of rows) yield { path, version, value: unpack(value) }
      }
    },
    async lookup(keys, limit = Number.MAX_SAFE_INTEGER) {
      if (keys.length === 0) return []
      const number = await site()
      const rows = await reads.rows<{ path: string; item: string }>(
        `SELECT r.folder || r.name AS path, found.item FROM (
           SELECT e.id, e.item FROM entry e
           WHERE e.site = $1 AND e.key = $2::bytea${carriesAll(keys.length)} LIMIT $${keys.length + 2}) found
         JOIN resource r ON r.id = found.id`,
        number,
        ...(await rarestFirst(reads, number, keys)),
        limit,
      )
      return rows.map(({ path, item }) => ({ path, item: unpack(item) }))
    },
    async properties(path) {
      const { folder, name } = splitPath(path)
      const rows = await reads.rows<Property>(
        `SELECT p.namespace, p.name, p.value FROM resource r JOIN property p ON p.id = r.id
         WHERE r.site = $1 AND r.folder = $2 AND r.name = $3 ORDER BY p.namespace, p.name`,
        await site(),
        folder,
        name,
      )
      return rows.map(propertyOf)
    },
    async propertiesBetween(first, last, { values, most } = {}) {
      const { folder, name } = splitPath(first)
      const rows = await reads.rows<Property & { member: string | null; kind: number; bytes: number }>(
        `WITH told AS (
           SELECT r.name AS member, r.kind, p.namespace, p.name,
             CASE WHEN $5::text[] IS NULL OR p.name || ' ' || p.namespace = ANY ($5) THEN p.value ELSE '' END AS value
           FROM resource r JOIN property p ON p.id = r.id
           WHERE r.site = $1 AND r.folder = $2 AND r.name BETWEEN $3 AND $4 AND r.properties IS NOT NULL
         ), size AS (
           SELECT coalesce(sum(octet_length(namespace) + octet_length(name) + octet_length(value)), 0)::float8 AS bytes
           FROM told
         )
         SELECT member, kind, namespace, name, value, bytes FROM size LEFT JOIN told ON bytes <= $6
         ORDER BY member, namespace, name`,
        await site(),
        folder,
        name,
        splitPath(last).name,
        values?.map(each => `${each.name} ${each.namespace}`) ?? null,
        most ?? Number.MAX_SAFE_INTEGER,
      )
      if (most !== undefined && (rows[0]?.bytes ?? 0) > most) return undefined
      const found = new Map<string, Property[]>()
      for (const [i, row] of rows.entries()) {
        if (i % PROPERTIES === PROPERTIES - 1) await setImmediate()
        if (row.member === null) continue
        const path = pathOf({ folder, name: row.member, kind: row.kind })
        const known = found.get(path)
        if (known) known.push(propertyOf(row))
        else found.set(path, [propertyOf(row)])
      }
      return found
    },
    async counters() {
      const rows = await reads.rows<{ name: string; value: number }>(
        'SELECT name, value FROM counter WHERE site = $1',
        await site(),
      )
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    },
    async version() {
      const [progress] = await reads.rows<{ version: number }>('SELECT version FROM progress')
      return progress?.version ?? 0
    },
    ...readEvents(reads, site, context),
  }
}
