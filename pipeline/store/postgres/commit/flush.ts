/**
 * Writes what is pending into tables: most of it with one call of a function in the database, whatever few commits have with
 * statements of their own.
 */

import { DERIVATION } from '../../derivation.ts'
import { recordOf, STORED } from '../rows.ts'
import type { Parameter, Session } from '../session.ts'
import { pack } from '../text.ts'
import { type Cells, columns } from './columns.ts'
import { type NewDerived, nothingPending, type Pending } from './pending.ts'

/** Rows of one statement at most: JSON of more would hold the event loop. */
const AT_ONCE = 1000

/** Runs a statement for all rows, a thousand at a time. Its first parameter is the rows as JSON. */
function inSlices(session: Session, sql: string, rows: readonly unknown[]): Promise<unknown>[] {
  const sent: Promise<unknown>[] = []
  for (let from = 0; from < rows.length; from += AT_ONCE)
    sent.push(session.run(sql, JSON.stringify(rows.slice(from, from + AT_ONCE))))
  return sent
}

/** Bytes of bodies of one call at most. */
const BODIES = 16 * 1024 * 1024

/** Ends use of bodies: those that an event tells of stay until it goes. */
export const FREE_BODIES = [
  'DELETE FROM body WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM event WHERE event.body = body.id)',
  'UPDATE body SET told = true WHERE id = ANY ($1::bigint[])',
] as const

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

/** Rows of one call of the function, by table. */
interface Rows {
  sites: Cells[]
  resources: Cells[]
  bodies: Cells[]
  pieces: Uint8Array[]
  derived: [id: number, derived: NewDerived][]
  events: Cells[]
  counters: Cells[]
  log: Cells[]
}

const SITES = ['id', 'name', 'ms', 'seq']
const RESOURCES = STORED.split(', ')
const BODY = ['id', 'start', 'length']
const DERIVED = ['id', 'name', 'site', 'value']
const EVENTS = 'site ms seq path version payload session token facts bytes'.split(' ')
const COUNTERS = ['site', 'name', 'value']
const LOG = ['version', 'site', 'paths', 'raised', 'edit']

const COUNT =
  SITES.length + RESOURCES.length + BODY.length + DERIVED.length + EVENTS.length + COUNTERS.length + LOG.length + 6
const WRITE = `SELECT write_group_4(${Array.from({ length: COUNT }, (_, i) => `$${i + 1}`).join(', ')})`

const noRows = (): Rows => ({
  sites: [],
  resources: [],
  bodies: [],
  pieces: [],
  derived: [],
  events: [],
  counters: [],
  log: [],
})

/** The rows that are pending, in as many calls as their number and their bytes need. */
function callsOf(pending: Pending): Rows[] {
  const calls: Rows[] = []
  const at = (i: number): Rows => {
    const known = calls[i]
    if (known !== undefined) return known
    const rows = noRows()
    calls.push(rows)
    return rows
  }
  const each = <T>(all: Iterable<T>, add: (call: Rows, one: T) => void, most = AT_ONCE) => {
    let n = 0
    for (const one of all) add(at(Math.floor(n++ / most)), one)
  }
  each(pending.sites, ({ sites }, [id, site]) => sites.push({ id, ...site }))
  each(pending.rows.values(), ({ resources }, { site, row }) => {
    if (row !== null) resources.push(recordOf(site, row))
  })
  each(pending.derived, ({ derived }, one) => derived.push(one), AT_ONCE / 4)
  each(pending.events, ({ events }, event) =>
    events.push({
      ...event,
      payload: pack(event.payload),
      session: packOr(event.session),
      token: packOr(event.token),
      facts: packOr(event.facts),
    }),
  )
  each(pending.counters.values(), ({ counters }, counter) => counters.push({ ...counter }))
  each(pending.log, ({ log }, entry) => log.push({ ...entry, edit: packOr(entry.edit) }))
  let [call, size] = [0, 0]
  for (const [id, body] of pending.bodies) {
    if ('upload' in body) continue
    if (size > 0 && size + body.length > BODIES) [call, size] = [call + 1, 0]
    const { bodies, pieces } = at(call)
    bodies.push({ id, start: size + 1, length: body.length })
    pieces.push(body)
    size += body.length
  }
  return calls
}

/** Numbers that the next transaction begins behind. */
export interface Progress {
  version: number
  lastId: number
}

function call(session: Session, rows: Rows, origin: string, progress: Progress | undefined): Promise<unknown> {
  const { derived } = rows
  const values = derived.flatMap(([id, { site, values }]) =>
    [...values].map(([name, value]) => ({ id, name: pack(name), site, value: pack(value) })),
  )
  const [bytes = new Uint8Array()] = rows.pieces
  const parameters: Parameter[] = [
    ...columns(rows.sites, SITES),
    ...columns(rows.resources, RESOURCES),
    ...columns(rows.bodies, BODY),
    rows.pieces.length > 1 ? Buffer.concat(rows.pieces) : bytes,
    derived.flatMap(([id, { whole }]) => (whole ? [id] : [])),
    ...columns(values, DERIVED),
    DERIVATION,
    ...columns(rows.events, EVENTS),
    ...columns(rows.counters, COUNTERS),
    ...columns(rows.log, LOG),
    origin,
    progress?.version ?? null,
    progress?.lastId ?? null,
  ]
  return session.run(WRITE, ...parameters)
}

/** Bodies that came in pieces. */
function joinUploads(session: Session, bodies: Pending['bodies']): Promise<unknown>[] {
  return [...bodies].flatMap(([id, body]) =>
    'upload' in body
      ? [
          session.run(
            `INSERT INTO body (id, bytes) SELECT $1::bigint, coalesce(string_agg(bytes, ''::bytea ORDER BY seq), ''::bytea)
             FROM chunk WHERE upload = $2::uuid`,
            id,
            body.upload,
          ),
        ]
      : [],
  )
}

const PLACES = 'json_to_recordset($1::json) AS k (site bigint, folder text COLLATE "C", name text COLLATE "C")'

/**
 * Sends everything, and forgets it. The statements are carried out in order; the caller waits for all of them.
 *
 * @param origin of this process in the log of commits
 * @param progress of all processes after it, if the transaction ends with it
 */
export function flush(session: Session, pending: Pending, origin: string, progress?: Progress): Promise<unknown>[] {
  const emptied = [...pending.rows.values()].filter(({ row }) => row === null)
  const calls = callsOf(pending)
  if (calls.length === 0 && progress !== undefined) calls.push(noRows())
  const sent = [
    ...inSlices(
      session,
      `DELETE FROM resource r USING ${PLACES} WHERE r.site = k.site AND r.folder = k.folder AND r.name = k.name`,
      emptied.map(({ site, folder, name }) => ({ site, folder, name })),
    ),
    ...joinUploads(session, pending.bodies),
    ...calls.map((rows, i) => call(session, rows, origin, i === 0 ? progress : undefined)),
    ...writeEntries(session, pending),
    ...writeBlobs(session, pending.blobs),
  ]
  if (pending.freed.size > 0) for (const sql of FREE_BODIES) sent.push(session.run(sql, [...pending.freed]))
  if (pending.undescribed.size > 0)
    sent.push(session.run('DELETE FROM property WHERE id = ANY ($1::bigint[])', [...pending.undescribed]))
  Object.assign(pending, nothingPending())
  return sent
}
