/** Reading kept events, and telling whether a subscriber missed some that are no longer kept. */

import type { StoredEvent } from '../store.ts'
import type { Database } from './database.ts'

interface EventRow {
  ms: number
  seq: number
  path: string
  version: number
  payload: string
  session: string | null
  token: string | null
  facts: string | null
}

interface EventKey {
  ms: number
  seq: number
}

const COLUMNS = 'ms, seq, path, version, payload, session, token, facts'

/** Before every id. */
const START: EventKey = { ms: -1, seq: 0 }

/** Reads of events by number of the site. */
export interface EventReader {
  ofPath(site: number, path: string, after: string | undefined): StoredEvent[]
  ofSite(site: number, after: string | undefined, limit: number): StoredEvent[]
  newest(site: number, path: string): string | undefined
  continuous(site: number, path: string, after: string): boolean
}

/** The two numbers of an id (EVT-45), or undefined if it is none; too large numbers come after every id. */
function parseId(id: string): EventKey | undefined {
  const found = /^(\d{1,40})-(\d{1,40})$/.exec(id)
  if (found === null) return undefined
  const number = (digits: string | undefined) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
  return { ms: number(found[1]), seq: number(found[2]) }
}

function format(key: EventKey | undefined): string | undefined {
  return key === undefined ? undefined : `${key.ms}-${key.seq}`
}

const compare = (a: EventKey, b: EventKey) => a.ms - b.ms || a.seq - b.seq

function eventOf(row: EventRow): StoredEvent {
  const event: StoredEvent = {
    id: `${row.ms}-${row.seq}`,
    path: row.path,
    version: row.version,
    payload: row.payload,
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
  const ofPath = database.prepare<EventRow>(
    `SELECT ${COLUMNS} FROM event WHERE site = ? AND path = ? AND ms >= ? AND (ms, seq) > (?, ?) ORDER BY ms, seq`,
  )
  const ofSite = database.prepare<EventRow>(
    `SELECT ${COLUMNS} FROM event WHERE site = ? AND (ms, seq) > (?, ?) ORDER BY ms, seq LIMIT ?`,
  )
  const kept = database.prepare<EventKey>(
    'SELECT ms, seq FROM event WHERE site = ? AND path = ? ORDER BY ms DESC, seq DESC LIMIT 1',
  )
  const dropped = database.prepare<EventKey>('SELECT ms, seq FROM dropped WHERE site = ? AND path = ?')
  const newest = (site: number, path: string) => kept.get(site, path) ?? dropped.get(site, path)

  /** An id that is none comes after everything: nothing is replayed. */
  const keyOf = (after: string | undefined): EventKey =>
    after === undefined ? START : (parseId(after) ?? { ms: Number.MAX_SAFE_INTEGER, seq: 0 })

  return {
    ofPath(site, path, after) {
      const { ms, seq } = keyOf(after)
      return ofPath.all(site, path, clock() - eventRetention, ms, seq).map(eventOf)
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
  }
}
