/**
 * What commits have to write. Everything is kept until the end of the transaction, or until a statement needs to find it
 * in its table; then all of it goes with one statement a table.
 */

import { DERIVATION } from '../../derivation.ts'
import type { Row } from '../rows.ts'
import { recordOf, STORED } from '../rows.ts'
import type { Session } from '../session.ts'
import { pack } from '../text.ts'

/** A row at its place; null where there shall be none. */
export interface Placed {
  site: number
  folder: string
  name: string
  row: Row | null
}

export interface NewEvent {
  site: number
  ms: number
  seq: number
  path: string
  version: number
  payload: string
  session: string | null
  token: string | null
  facts: string | null
  bytes: number
}

/** Bytes of a body: at hand, or in the chunks of an upload. */
export type NewBody = Uint8Array | { upload: string }

/** Derived data of a resource: all of it, or only what is named. */
export interface NewDerived {
  site: number
  values: Map<string, string>
  whole: boolean
}

/** What becomes of the bytes of a digest: used, kept although they may have been given up, or given up at a time. */
export type BlobUse =
  | { use: 'new'; upload: string; object: boolean; size: number; sha1: string; md5: string; left?: number }
  | { use: 'keep' }
  | { use: 'leave'; at: number }

export interface LogEntry {
  version: number
  site: string
  paths: string
  raised: string
  edit: string | null
}

export interface Pending {
  sites: Map<number, { name: string; ms: number; seq: number }>
  rows: Map<string, Placed>
  bodies: Map<number, NewBody>
  /** Bodies that no resource has any more. */
  freed: Set<number>
  derived: Map<number, NewDerived>
  /** Lines of entries by resource; null for none. */
  texts: Map<number, string | null>
  /** Entries that go, before those that come. */
  entriesGone: { id: number; item: string }[]
  entriesCome: { site: number; key: string; id: number; item: string }[]
  /** Resources that lose all properties. */
  undescribed: Set<number>
  events: NewEvent[]
  counters: Map<string, { site: number; name: string; value: number }>
  blobs: Map<string, BlobUse>
  log: LogEntry[]
}

export function nothingPending(): Pending {
  return {
    sites: new Map(),
    rows: new Map(),
    bodies: new Map(),
    freed: new Set(),
    derived: new Map(),
    texts: new Map(),
    entriesGone: [],
    entriesCome: [],
    undescribed: new Set(),
    events: [],
    counters: new Map(),
    blobs: new Map(),
    log: [],
  }
}

/** Key of a place in maps. */
export function placeKey(site: number, folder: string, name: string): string {
  return `${site} ${folder}\0${name}`
}

/** Gives up a body; one that was never written needs no writing. */
export function freeBody(pending: Pending, id: number): void {
  if (!pending.bodies.delete(id)) pending.freed.add(id)
}

/** Replaces derived data, or what is named of it. */
export function setDerived(pending: Pending, id: number, { site, values, whole }: NewDerived): void {
  const known = pending.derived.get(id)
  if (whole || known === undefined) pending.derived.set(id, { site, values: new Map(values), whole })
  else for (const [name, value] of values) known.values.set(name, value)
}

/** Takes entries away, those that have not been written included. */
export function removeEntries(pending: Pending, gone: readonly { id: number; item: string }[]): void {
  if (gone.length === 0) return
  const keys = new Set(gone.map(({ id, item }) => `${id} ${item}`))
  if (pending.entriesCome.some(({ id, item }) => keys.has(`${id} ${item}`)))
    pending.entriesCome = pending.entriesCome.filter(({ id, item }) => !keys.has(`${id} ${item}`))
  pending.entriesGone.push(...gone)
}

/** Notes what becomes of a blob. */
export function useBlob(pending: Pending, digest: string, use: BlobUse): void {
  const known = pending.blobs.get(digest)
  if (known?.use !== 'new' || use.use === 'new') {
    pending.blobs.set(digest, use)
    return
  }
  const { left: _left, ...fresh } = known
  pending.blobs.set(digest, use.use === 'leave' ? { ...fresh, left: use.at } : fresh)
}

/** Adds what one commit has to write to what its transaction has. */
export function mergePending(into: Pending, from: Pending): void {
  for (const [id, site] of from.sites) into.sites.set(id, site)
  for (const [key, placed] of from.rows) into.rows.set(key, placed)
  for (const [id, body] of from.bodies) into.bodies.set(id, body)
  for (const id of from.freed) freeBody(into, id)
  for (const [id, derived] of from.derived) setDerived(into, id, derived)
  for (const [id, lines] of from.texts) into.texts.set(id, lines)
  removeEntries(into, from.entriesGone)
  into.entriesCome.push(...from.entriesCome)
  for (const id of from.undescribed) into.undescribed.add(id)
  into.events.push(...from.events)
  for (const [key, counter] of from.counters) into.counters.set(key, counter)
  for (const [digest, use] of from.blobs) useBlob(into, digest, use)
  into.log.push(...from.log)
}

/** Rows of one statement at most: JSON of more would hold the event loop. */
const AT_ONCE = 1000

/** Bytes of bodies of one statement at most. */
const BODIES = 16 * 1024 * 1024

/** Runs a statement for all rows, a thousand at a time. Its first parameter is the rows as JSON. */
function inSlices(session: Session, sql: string, rows: readonly unknown[]): Promise<unknown>[] {
  const sent: Promise<unknown>[] = []
  for (let from = 0; from < rows.length; from += AT_ONCE)
    sent.push(session.run(sql, JSON.stringify(rows.slice(from, from + AT_ONCE))))
  return sent
}

const UPSERT = `INSERT INTO resource (${STORED}) SELECT ${STORED} FROM json_populate_recordset(NULL::resource, $1::json)
  ON CONFLICT (site, folder, name) DO UPDATE SET
  ${STORED.split(', ')
    .slice(3)
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}`

const PLACES = 'json_to_recordset($1::json) AS k (site bigint, folder text COLLATE "C", name text COLLATE "C")'

/** Bodies in as few statements as their sizes allow, each with all its bytes in one parameter. */
function writeBodies(session: Session, bodies: Pending['bodies']): Promise<unknown>[] {
  const sent: Promise<unknown>[] = []
  let parts: { id: number; start: number; length: number }[] = []
  let pieces: Uint8Array[] = []
  let size = 0
  const send = () => {
    if (parts.length === 0) return
    sent.push(
      session.run(
        `INSERT INTO body (id, bytes) SELECT id, substring($2::bytea FROM start FOR length)
         FROM json_to_recordset($1::json) AS k (id bigint, start int, length int)`,
        JSON.stringify(parts),
        Buffer.concat(pieces),
      ),
    )
    parts = []
    pieces = []
    size = 0
  }
  for (const [id, body] of bodies) {
    if ('upload' in body) {
      sent.push(
        session.run(
          `INSERT INTO body (id, bytes) SELECT $1::bigint, coalesce(string_agg(bytes, ''::bytea ORDER BY seq), ''::bytea)
           FROM chunk WHERE upload = $2::uuid`,
          id,
          body.upload,
        ),
      )
      continue
    }
    if (size + body.length > BODIES) send()
    parts.push({ id, start: size + 1, length: body.length })
    pieces.push(body)
    size += body.length
  }
  send()
  return sent
}

/** Ends use of bodies: those that an event tells of stay until it goes. */
export const FREE_BODIES = [
  'DELETE FROM body WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM event WHERE event.body = body.id)',
  'UPDATE body SET told = true WHERE id = ANY ($1::bigint[])',
] as const

function writeDerived(session: Session, derived: Pending['derived']): Promise<unknown>[] {
  const rows = [...derived].flatMap(([id, { site, values }]) =>
    [...values].map(([name, value]) => ({ id, site, name: pack(name), value: pack(value) })),
  )
  const whole = [...derived].flatMap(([id, each]) => (each.whole ? [id] : []))
  const sent: Promise<unknown>[] = []
  if (whole.length > 0)
    sent.push(
      session.run(
        `DELETE FROM derived d WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (
           SELECT 1 FROM json_to_recordset($2::json) AS k (id bigint, name text COLLATE "C")
           WHERE k.id = d.id AND k.name = d.name)`,
        whole,
        JSON.stringify(rows.map(({ id, name }) => ({ id, name }))),
      ),
    )
  const upsert = `INSERT INTO derived (id, name, site, value, derivation)
    SELECT id, name, site, value, ${DERIVATION} FROM json_populate_recordset(NULL::derived, $1::json)
    ON CONFLICT (id, name) DO UPDATE SET value = EXCLUDED.value WHERE derived.value <> EXCLUDED.value`
  return [...sent, ...inSlices(session, upsert, rows)]
}

function writeEntries(session: Session, { texts, entriesGone, entriesCome }: Pending): Promise<unknown>[] {
  const gone = [...texts].flatMap(([id, lines]) => (lines === null ? [id] : []))
  const come = [...texts].flatMap(([id, lines]) => (lines === null ? [] : [{ id, lines: pack(lines) }]))
  return [
    ...inSlices(
      session,
      `DELETE FROM entry e USING json_to_recordset($1::json) AS k (id bigint, item text COLLATE "C")
       WHERE e.id = k.id AND e.item = k.item`,
      entriesGone.map(({ id, item }) => ({ id, item: pack(item) })),
    ),
    ...inSlices(
      session,
      `INSERT INTO entry (site, key, id, item) SELECT site, key, id, item
       FROM json_populate_recordset(NULL::entry, $1::json) ON CONFLICT DO NOTHING`,
      entriesCome.map(each => ({ ...each, item: pack(each.item) })),
    ),
    ...(gone.length === 0
      ? []
      : [
          session.run('DELETE FROM entry WHERE id = ANY ($1::bigint[])', gone),
          session.run('DELETE FROM entry_text WHERE id = ANY ($1::bigint[])', gone),
        ]),
    ...inSlices(
      session,
      `INSERT INTO entry_text (id, lines) SELECT id, lines FROM json_populate_recordset(NULL::entry_text, $1::json)
       ON CONFLICT (id) DO UPDATE SET lines = EXCLUDED.lines`,
      come,
    ),
  ]
}

const NEW_BLOBS = `INSERT INTO blob (digest, upload, size, sha1, md5, unused)
  SELECT digest, upload, size, sha1, md5, unused FROM json_populate_recordset(NULL::blob, $1::json)
  ON CONFLICT (digest) DO UPDATE SET unused = EXCLUDED.unused`

function writeBlobs(session: Session, blobs: Pending['blobs']): Promise<unknown>[] {
  const fresh = [...blobs].flatMap(([digest, use]) =>
    use.use === 'new' ? [{ digest, ...use, unused: use.left ?? null }] : [],
  )
  const other = [...blobs].flatMap(([digest, use]) =>
    use.use === 'new' ? [] : [{ digest, unused: use.use === 'leave' ? use.at : null }],
  )
  const [objects, chunks] = [fresh.filter(({ object }) => object), fresh.filter(({ object }) => !object)]
  return [
    ...inSlices(session, NEW_BLOBS, chunks),
    // A fail-over may have lost what was noted of an object before its bytes came.
    ...inSlices(
      session,
      `INSERT INTO object (id) SELECT upload FROM json_populate_recordset(NULL::blob, $1::json) ON CONFLICT DO NOTHING`,
      objects,
    ),
    // An object that is new is whole, which one of long ago may not be any more.
    ...inSlices(
      session,
      `${NEW_BLOBS}, upload = CASE WHEN EXISTS (SELECT 1 FROM object WHERE id = blob.upload)
       THEN EXCLUDED.upload ELSE blob.upload END`,
      objects,
    ),
    ...inSlices(
      session,
      `UPDATE blob SET unused = k.unused FROM json_to_recordset($1::json) AS k (digest text COLLATE "C", unused bigint)
       WHERE blob.digest = k.digest`,
      other,
    ),
  ]
}

const packOr = (text: string | null) => (text === null ? null : pack(text))

/**
 * Sends everything, and forgets it. The statements are carried out in order; the caller waits for all of them.
 *
 * @param origin of this process in the log of commits
 */
export function flush(session: Session, pending: Pending, origin: string): Promise<unknown>[] {
  const rows = [...pending.rows.values()]
  const sent = [
    ...inSlices(
      session,
      `INSERT INTO site (id, name, ms, seq) SELECT id, name, ms, seq FROM json_populate_recordset(NULL::site, $1::json)
       ON CONFLICT (id) DO UPDATE SET ms = EXCLUDED.ms, seq = EXCLUDED.seq`,
      [...pending.sites].map(([id, site]) => ({ id, ...site })),
    ),
    ...inSlices(
      session,
      `DELETE FROM resource r USING ${PLACES} WHERE r.site = k.site AND r.folder = k.folder AND r.name = k.name`,
      rows.filter(({ row }) => row === null).map(({ site, folder, name }) => ({ site, folder, name })),
    ),
    ...inSlices(
      session,
      UPSERT,
      rows.flatMap(({ site, row }) => (row === null ? [] : [recordOf(site, row)])),
    ),
    ...writeBodies(session, pending.bodies),
    ...writeDerived(session, pending.derived),
    ...writeEntries(session, pending),
    ...writeBlobs(session, pending.blobs),
    ...inSlices(
      session,
      `INSERT INTO event (site, ms, seq, path, version, payload, session, token, facts, bytes)
       SELECT site, ms, seq, path, version, payload, session, token, facts, bytes
       FROM json_populate_recordset(NULL::event, $1::json)`,
      pending.events.map(event => ({
        ...event,
        payload: pack(event.payload),
        session: packOr(event.session),
        token: packOr(event.token),
        facts: packOr(event.facts),
      })),
    ),
    ...inSlices(
      session,
      `INSERT INTO counter (site, name, value) SELECT site, name, value
       FROM json_populate_recordset(NULL::counter, $1::json) ON CONFLICT (site, name) DO UPDATE SET value = EXCLUDED.value`,
      [...pending.counters.values()],
    ),
    ...inSlices(
      session,
      `INSERT INTO commit_log (version, origin, site, paths, raised, edit)
       SELECT version, origin, site, paths, raised, edit FROM json_populate_recordset(NULL::commit_log, $1::json)`,
      pending.log.map(entry => ({ ...entry, edit: packOr(entry.edit), origin })),
    ),
  ]
  if (pending.freed.size > 0) for (const sql of FREE_BODIES) sent.push(session.run(sql, [...pending.freed]))
  if (pending.undescribed.size > 0)
    sent.push(session.run('DELETE FROM property WHERE id = ANY ($1::bigint[])', [...pending.undescribed]))
  Object.assign(pending, nothingPending())
  return sent
}
