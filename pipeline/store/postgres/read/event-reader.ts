/** Reading kept events, and telling whether a subscriber missed some that are no longer kept. */

import { compareEventIds as compare, type EventId, parseEventId as parseId } from '../../event-id.ts'
import type { EventReader, StoredEvent } from '../../events.ts'
import { documentText } from '../../records/rows.ts'
import type { Session } from '../session.ts'
import { unpack } from '../text.ts'

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

/** A limit that is none. */
const ALL = Number.MAX_SAFE_INTEGER

/** Before every id, and behind every id. */
const START: EventId = { ms: -1, seq: 0 }
const END: EventId = { ms: Number.MAX_SAFE_INTEGER, seq: 0 }

function eventOf(row: EventRow): StoredEvent {
  const payload = unpack(row.payload)
  const event: StoredEvent = {
    id: `${row.ms}-${row.seq}`,
    path: row.path,
    version: row.version,
    payload: row.tail === null ? payload : payload + documentText(row.shared) + unpack(row.tail),
  }
  if (row.session !== null) event.session = unpack(row.session)
  if (row.token !== null) event.token = unpack(row.token)
  if (row.facts !== null) event.facts = unpack(row.facts)
  return event
}

/** An id that is none comes after everything: nothing is replayed. */
const keyOf = (after: string | undefined): EventId => (after === undefined ? START : (parseId(after) ?? END))

/**
 * @param site number of the site
 * @param context `clock` gives unix milliseconds, `eventRetention` is in milliseconds: older events are not shown even
 *   where they have not been removed yet
 */
export function readEvents(
  reads: Session,
  site: () => Promise<number>,
  { clock, eventRetention }: { clock: () => number; eventRetention: number },
): EventReader {
  /** What is known of a path: its newest kept and its newest dropped event, seen in one state. */
  async function ends(path: string) {
    const row = await reads.row<{ kept: string | null; dropped: string | null }>(
      `SELECT (SELECT ms || '-' || seq FROM event WHERE site = $1 AND path = $2 ORDER BY ms DESC, seq DESC LIMIT 1) AS kept,
         (SELECT ms || '-' || seq FROM dropped WHERE site = $1 AND path = $2) AS dropped`,
      await site(),
      path,
    )
    return { newest: row?.kept ?? row?.dropped ?? undefined, dropped: row?.dropped ?? undefined }
  }

  return {
    async events(path, after, limit = ALL) {
      const { ms, seq } = keyOf(after)
      const rows = await reads.rows<EventRow>(
        `SELECT ${COLUMNS} FROM event WHERE site = $1 AND path = $2 AND ms >= $3 AND (ms, seq) > ($4, $5)
         ORDER BY ms, seq LIMIT $6`,
        await site(),
        path,
        clock() - eventRetention,
        ms,
        seq,
        limit,
      )
      return rows.map(eventOf)
    },
    async allEvents(after, limit) {
      const horizon = { ms: clock() - eventRetention - 1, seq: Number.MAX_SAFE_INTEGER }
      const from = keyOf(after)
      const { ms, seq } = compare(from, horizon) > 0 ? from : horizon
      const rows = await reads.rows<EventRow>(
        `SELECT ${COLUMNS} FROM event WHERE site = $1 AND (ms, seq) > ($2, $3) ORDER BY ms, seq LIMIT $4`,
        await site(),
        ms,
        seq,
        limit,
      )
      return rows.map(eventOf)
    },
    async newestEvent(path) {
      return (await ends(path)).newest
    },
    async continuous(path, after) {
      const key = parseId(after)
      if (key === undefined) return false
      const { newest, dropped } = await ends(path)
      if (newest !== undefined && compare(key, parseId(newest) ?? START) === 0) return true
      if (key.ms < clock() - eventRetention) return false
      return dropped === undefined || compare(parseId(dropped) ?? START, key) <= 0
    },
    async keepsAfter(path, id) {
      const { ms, seq } = keyOf(id)
      const row = await reads.row<{ lost: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM dropped WHERE site = $1 AND path = $2 AND (ms, seq) > ($3, $4))
           OR EXISTS (SELECT 1 FROM event WHERE site = $1 AND path = $2 AND ms < $5 AND (ms, seq) > ($3, $4)) AS lost`,
        await site(),
        path,
        ms,
        seq,
        clock() - eventRetention,
      )
      return row?.lost !== true
    },
  }
}
