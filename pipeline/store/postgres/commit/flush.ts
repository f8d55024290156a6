/**
 * Writes what is pending into tables: most of it with one call of a function in the database, whatever few commits have with
 * statements of their own.
 */

import { DERIVATION } from '../../derivation.ts'
import type { Row } from '../rows.ts'
import type { Session, WriterSession } from '../session.ts'
import { pack } from '../text.ts'
import { BindMessage, type Column } from './bind.ts'
import { type LogEntry, type NewDerived, type NewEvent, nothingPending, type Pending } from './pending.ts'

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
  sites: [id: number, site: { name: string; ms: number; seq: number }][]
  resources: { site: number; row: Row }[]
  bodies: [id: number, bytes: Uint8Array][]
  freed: number[]
  derived: [id: number, derived: NewDerived][]
  gone: { id: number; item: string }[]
  come: { site: number; key: string; id: number; item: string }[]
  texts: [id: number, lines: string | null][]
  events: NewEvent[]
  counters: { site: number; name: string; value: number }[]
  log: LogEntry[]
}

/** A place where the commits take it that nothing is and nothing was. */
export interface Place {
  site: number
  folder: string
  name: string
}

const PLACE: readonly Column<Place>[] = [
  ['int8', ({ site }) => site],
  ['text', ({ folder }) => folder],
  ['text', ({ name }) => name],
]
const SITE: readonly Column<Rows['sites'][number]>[] = [
  ['int8', ([id]) => id],
  ['text', ([, { name }]) => name],
  ['int8', ([, { ms }]) => ms],
  ['int8', ([, { seq }]) => seq],
]
const RESOURCE: readonly Column<Rows['resources'][number]>[] = [
  ['int8', ({ site }) => site],
  ['text', ({ row }) => row.folder],
  ['text', ({ row }) => row.name],
  ['int8', ({ row }) => row.id],
  ['int2', ({ row }) => row.kind],
  ['int8', ({ row }) => row.version],
  ['text', ({ row }) => row.digest],
  ['int8', ({ row }) => row.size],
  ['text', ({ row }) => pack(row.type)],
  ['text', ({ row }) => packOr(row.language)],
  ['int8', ({ row }) => row.created],
  ['int8', ({ row }) => row.modified],
  ['int8', ({ row }) => row.shown],
  ['int2', ({ row }) => row.same_second],
  ['text', ({ row }) => row.properties],
  ['text', ({ row }) => row.members],
  ['int8', ({ row }) => row.body],
  ['text', ({ row }) => (row.in_file === 1 ? row.digest : null)],
  ['int2', ({ row }) => row.unlisted],
]
const BODY: readonly Column<Rows['bodies'][number]>[] = [
  ['int8', ([id]) => id],
  ['bytea', ([, bytes]) => bytes],
]
const DERIVED: readonly Column<{ id: number; name: string; site: number; value: string }>[] = [
  ['int8', ({ id }) => id],
  ['text', ({ name }) => pack(name)],
  ['int8', ({ site }) => site],
  ['text', ({ value }) => pack(value)],
]
const GONE: readonly Column<Rows['gone'][number]>[] = [
  ['int8', ({ id }) => id],
  ['text', ({ item }) => pack(item)],
]
const COME: readonly Column<Rows['come'][number]>[] = [
  ['int8', ({ site }) => site],
  ['bytea', ({ key }) => Buffer.from(key.slice(2), 'hex')],
  ['int8', ({ id }) => id],
  ['text', ({ item }) => pack(item)],
]
const TEXT: readonly Column<Rows['texts'][number]>[] = [
  ['int8', ([id]) => id],
  ['text', ([, lines]) => packOr(lines)],
]
const EVENT: readonly Column<NewEvent>[] = [
  ['int8', ({ site }) => site],
  ['int8', ({ ms }) => ms],
  ['int8', ({ seq }) => seq],
  ['text', ({ path }) => path],
  ['int8', ({ version }) => version],
  ['text', ({ payload }) => pack(payload)],
  ['text', ({ session }) => packOr(session)],
  ['text', ({ token }) => packOr(token)],
  ['text', ({ facts }) => packOr(facts)],
  ['int8', ({ bytes }) => bytes],
]
const COUNTER: readonly Column<Rows['counters'][number]>[] = [
  ['int8', ({ site }) => site],
  ['text', ({ name }) => name],
  ['int8', ({ value }) => value],
]
const LOG: readonly Column<LogEntry>[] = [
  ['int8', ({ version }) => version],
  ['text', ({ site }) => site],
  ['text', ({ paths }) => paths],
  ['text', ({ raised }) => raised],
  ['text', ({ edit }) => packOr(edit)],
]

const TABLES = [PLACE, SITE, RESOURCE, BODY, DERIVED, GONE, COME, TEXT, EVENT, COUNTER, LOG]
/** `made_after`, `in_time`, bodies that are freed, resources with all of their derived data, its number, origin, and both last numbers. */
const COUNT = TABLES.reduce((sum, { length }) => sum + length, 0) + 8
const WRITE = `SELECT write_group_5(${Array.from({ length: COUNT }, (_, i) => `$${i + 1}`).join(', ')})`

const noRows = (): Rows => ({
  sites: [],
  resources: [],
  bodies: [],
  freed: [],
  derived: [],
  gone: [],
  come: [],
  texts: [],
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
  const each = <T>(all: Iterable<T>, add: (call: Rows, one: T) => void, most = AT_ONCE, from = 0) => {
    let n = 0
    for (const one of all) add(at(from + Math.floor(n++ / most)), one)
  }
  each(pending.sites, ({ sites }, site) => sites.push(site))
  each(pending.rows.values(), ({ resources }, { site, row }) => {
    if (row !== null) resources.push({ site, row })
  })
  each(pending.derived, ({ derived }, one) => derived.push(one), AT_ONCE / 4)
  each(pending.entriesGone, ({ gone }, one) => gone.push(one))
  // What comes may have the place of something that goes.
  const behind = Math.max(0, Math.ceil(pending.entriesGone.length / AT_ONCE) - 1)
  for (let i = 0; i < behind; i++) at(i)
  each(pending.entriesCome, ({ come }, one) => come.push(one), AT_ONCE, behind)
  each(pending.texts, ({ texts }, one) => texts.push(one))
  each(pending.events, ({ events }, event) => events.push(event))
  each(pending.counters.values(), ({ counters }, counter) => counters.push(counter))
  each(pending.log, ({ log }, entry) => log.push(entry))
  let [call, size] = [0, 0]
  for (const [id, body] of pending.bodies) {
    if ('upload' in body) continue
    if (size > 0 && size + body.length > BODIES) [call, size] = [call + 1, 0]
    at(call).bodies.push([id, body])
    size += body.length
  }
  if (pending.freed.size > 0) at(0).freed = [...pending.freed]
  return calls
}

/** Numbers that the next transaction begins behind. */
export interface Progress {
  version: number
  lastId: number
}

/** What a call takes for granted, if it is a whole transaction. */
export interface Assumed {
  /** Version of the last commit of anybody. */
  after: number
  /** Unix milliseconds of the database until which it has to have its turn. */
  until: number
  places: readonly Place[]
}

function call(
  session: WriterSession,
  rows: Rows,
  origin: string,
  progress: Progress | undefined,
  assumed?: Assumed,
): Promise<string | null> {
  const values = rows.derived.flatMap(([id, { site, values }]) =>
    Array.from(values, ([name, value]) => ({ id, name, site, value })),
  )
  return session.call(WRITE, statement => {
    const message = new BindMessage(statement, COUNT)
    message.value('int8', assumed?.after ?? null)
    message.value('int8', assumed?.until ?? null)
    message.columns(assumed?.places ?? [], PLACE)
    message.columns(rows.sites, SITE)
    message.columns(rows.resources, RESOURCE)
    message.columns(rows.bodies, BODY)
    message.list('int8', rows.freed)
    message.list(
      'int8',
      rows.derived.flatMap(([id, { whole }]) => (whole ? [id] : [])),
    )
    message.columns(values, DERIVED)
    message.value('int2', DERIVATION)
    message.columns(rows.gone, GONE)
    message.columns(rows.come, COME)
    message.columns(rows.texts, TEXT)
    message.columns(rows.events, EVENT)
    message.columns(rows.counters, COUNTER)
    message.columns(rows.log, LOG)
    message.value('text', origin)
    message.value('int8', progress?.version ?? null)
    message.value('int8', progress?.lastId ?? null)
    return message.finish()
  })
}

/** Whether one call writes all that is pending. */
function isOneCall(pending: Pending, calls: readonly Rows[]): boolean {
  if (calls.length > 1 || pending.blobs.size + pending.undescribed.size > 0) return false
  for (const { row } of pending.rows.values()) if (row === null) return false
  for (const body of pending.bodies.values()) if ('upload' in body) return false
  return true
}

/**
 * Has one call write all that is pending, if one is enough; outside of a transaction it is one.
 *
 * @returns undefined when it takes more; false when the database is not as it was assumed to be: nothing was written
 */
export function flushAtOnce(
  session: WriterSession,
  { pending, origin, version, lastId }: Progress & { pending: Pending; origin: string },
  assumed: Assumed,
): Promise<boolean> | undefined {
  const calls = callsOf(pending)
  if (!isOneCall(pending, calls)) return undefined
  const progress = version === assumed.after ? undefined : { version, lastId }
  return call(session, calls[0] ?? noRows(), origin, progress, assumed).then(written => written === 't')
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
export function flush(
  session: WriterSession,
  pending: Pending,
  origin: string,
  progress?: Progress,
): Promise<unknown>[] {
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
    ...writeBlobs(session, pending.blobs),
  ]
  if (pending.undescribed.size > 0)
    sent.push(session.run('DELETE FROM property WHERE id = ANY ($1::bigint[])', [...pending.undescribed]))
  Object.assign(pending, nothingPending())
  return sent
}
