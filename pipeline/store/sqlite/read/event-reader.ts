/** Reading kept events, and telling whether a subscriber missed some that are no longer kept. */

import { compareEventIds as compare, type EventId, parseEventId as parseId } from '../../event-id.ts'
import type { StoredEvent } from '../../events.ts'
import { documentText } from '../../records/rows.ts'
import { BUNDLED, BUNDLED_AT, ofFile, PATH, PAYLOAD, placeOf, REMOVED, SEQ } from '../bundles.ts'
import type { Database } from '../database.ts'

interface EventRow {
  ms: number
  seq: number
  path: string
  version: number
  payload: string
  session: string | null
  token: string | null
  facts: string | null
  /** Of a body that the event shares: it stands between `payload` and `tail`. */
  shared: Uint8Array | null
  tail: string | null
}

const COLUMNS = `ms, seq, path, version, payload, session, token, facts,
  (SELECT bytes FROM body WHERE body.id = event.body) AS shared, tail`
const IN_BUNDLE = `b.ms, ${SEQ} AS seq, ${PATH}, b.version, ${PAYLOAD}, b.session, b.token, NULL, NULL, NULL`

/** A limit that is none. */
const ALL = -1

/** Before every id. */
const START: EventId = { ms: -1, seq: 0 }

/** Reads of events by number of the site. */
export interface EventReader {
  ofPath(site: number, path: string, after: string | undefined, limit: number | undefined): StoredEvent[]
  ofSite(site: number, after: string | undefined, limit: number): StoredEvent[]
  newest(site: number, path: string): string | undefined
  continuous(site: number, path: string, after: string): boolean
  keepsAfter(site: number, path: string, id: string): boolean
}

function format(key: EventId | undefined): string | undefined {
  return key === undefined ? undefined : `${key.ms}-${key.seq}`
}

function eventOf(row: EventRow): StoredEvent {
  const event: StoredEvent = {
    id: `${row.ms}-${row.seq}`,
    path: row.path,
    version: row.version,
    payload: row.tail === null ? row.payload : row.payload + documentText(row.shared) + row.tail,
  }
  if (row.session !== null) event.session = row.session
  if (row.token !== null) event.token = row.token
  if (row.facts !== null) event.facts = row.facts
  return event
}

/**
 * @param context `clock` gives unix milliseconds, `eventRetention` is in milliseconds: older events are not shown even
 *   where they have not been removed yet
 */
export function prepareEvents(context: {
  database: Database
  clock: () => number
  eventRetention: number
}): EventReader {
  const { database, clock, eventRetention } = context
  // Both parts come in order, and no more of them is read than is asked for.
  const ofPath = database.prepare<EventRow>(
    `SELECT ${COLUMNS} FROM event INDEXED BY event_path
     WHERE site = ?1 AND path = ?2 AND ms >= ?3 AND (ms, seq) > (?4, ?5)
     UNION ALL SELECT ${IN_BUNDLE} FROM ${BUNDLED_AT} WHERE b.site = ?1 AND b.ms >= max(?3, ?4)
       AND ${ofFile(7)} AND (b.ms, ${SEQ}) > (?4, ?5)
     ORDER BY ms, seq LIMIT ?6`,
  )
  const ofSite = database.prepare<EventRow>(
    `SELECT ${COLUMNS} FROM event WHERE site = ?1 AND (ms, seq) > (?2, ?3)
     UNION ALL SELECT ${IN_BUNDLE} FROM ${BUNDLED} WHERE b.site = ?1 AND b.ms >= ?2 AND (b.ms, ${SEQ}) > (?2, ?3)
       AND n.value <> '${REMOVED}'
     ORDER BY ms, seq LIMIT ?4`,
  )
  const kept = database.prepare<EventId>(
    `SELECT * FROM (SELECT ms, seq FROM event WHERE site = ?1 AND path = ?2 ORDER BY ms DESC, seq DESC LIMIT 1)
     UNION ALL SELECT b.ms, ${SEQ} FROM ${BUNDLED_AT} WHERE b.site = ?1 AND ${ofFile(3)}
     ORDER BY 1 DESC, 2 DESC LIMIT 1`,
  )
  const dropped = database.prepare<EventId>('SELECT ms, seq FROM dropped WHERE site = ? AND path = ?')
  // One statement: between two, an event may be dropped and show in neither.
  const lost = database.prepare<{ found: 1 }>(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM dropped WHERE site = ?1 AND path = ?2 AND (ms, seq) > (?3, ?4))
     OR EXISTS (SELECT 1 FROM event WHERE site = ?1 AND path = ?2 AND ms < ?5 AND (ms, seq) > (?3, ?4))
     OR EXISTS (SELECT 1 FROM ${BUNDLED_AT} WHERE b.site = ?1 AND b.ms BETWEEN ?3 AND ?5 - 1
       AND ${ofFile(6)} AND (b.ms, ${SEQ}) > (?3, ?4))`,
  )
  const newest = (site: number, path: string) => kept.get(site, path, ...placeOf(path)) ?? dropped.get(site, path)

  /** An id that is none comes after everything: nothing is replayed. */
  const keyOf = (after: string | undefined): EventId =>
    after === undefined ? START : (parseId(after) ?? { ms: Number.MAX_SAFE_INTEGER, seq: 0 })

  return {
    ofPath(site, path, after, limit = ALL) {
      const { ms, seq } = keyOf(after)
      return ofPath.all(site, path, clock() - eventRetention, ms, seq, limit, ...placeOf(path)).map(eventOf)
    },
    ofSite(site, after, limit) {
      const horizon = { ms: clock() - eventRetention - 1, seq: Number.MAX_SAFE_INTEGER }
      const from = keyOf(after)
      const { ms, seq } = compare(from, horizon) > 0 ? from : horizon
      return ofSite.all(site, ms, seq, limit).map(eventOf)
    },
    newest(site, path) {
      return format(newest(site, path))
    },
    continuous(site, path, after) {
      const key = parseId(after)
      if (key === undefined) return false
      const last = newest(site, path)
      if (last !== undefined && compare(key, last) === 0) return true
      if (key.ms < clock() - eventRetention) return false
      const gone = dropped.get(site, path)
      return gone === undefined || compare(gone, key) <= 0
    },
    keepsAfter(site, path, id) {
      const { ms, seq } = keyOf(id)
      return lost.get(site, path, ms, seq, clock() - eventRetention, ...placeOf(path)) === undefined
    },
  }
}
