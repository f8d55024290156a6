/**
 * Forgetting events: by age, and by number and size per path (EVT-46). What was dropped last is remembered for a day.
 * Bodies that only they shared go with them.
 */

import { endOf, namesCollection } from '../../paths.ts'
import type { Session } from '../session.ts'

/** Milliseconds that the last dropped id of a path is kept (EVT-49). */
const REMEMBERED = 24 * 60 * 60_000

/** Most events and bytes of payload kept per path. */
export interface EventLimits {
  events: number
  bytes: number
}

const MOST: EventLimits = { events: 10_000, bytes: 16 * 1024 * 1024 }

/** A path is looked at whenever it gained this part of its limits, and loses it where it exceeds them. */
const SLACK = 0.1

/** Part of its limits that a path keeps when it loses events. */
const ROOM = 1 - SLACK

/** Events removed in one go, so that commits never wait long for it. */
const AT_ONCE = 1000

/** New events after which old ones are due: half of what is removed in one go, so that a backlog shrinks. */
const DUE_AFTER = 500

/** Paths whose growth is followed; beyond that the count starts anew. */
const FOLLOWED = 10_000

/** Runs inside a transaction that its caller opens and ends. */
export interface Retention {
  /**
   * Notes that a path gained an event; the limits are 10,000 events and 16 MiB if not given (EVT-46). The path of a
   * collection stands for every file in it; `count` says how many events that were.
   */
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
  /** True when so much was added, to a path or in all, that `trim` should run soon. */
  overdue(): boolean
  /**
   * Removes events older than a time and those beyond the limits of their path.
   * @param now unix milliseconds
   * @returns true when more is waiting
   */
  trim(session: Session, now: number): Promise<boolean>
}

interface Removed {
  path: string
  ms: number
  seq: number
  body: number | null
}

/** Remembers the newest of removed events by path, and lets go of bodies. */
async function follow(session: Session, site: number, removed: readonly Removed[]): Promise<void> {
  const newest = new Map<string, Removed>()
  for (const event of removed) {
    const known = newest.get(event.path)
    if (known === undefined || event.ms > known.ms || (event.ms === known.ms && event.seq > known.seq))
      newest.set(event.path, event)
  }
  await session.run(
    `INSERT INTO dropped (site, path, ms, seq) SELECT $1::bigint, path, ms, seq
     FROM json_to_recordset($2::json) AS k (path text COLLATE "C", ms bigint, seq bigint)
     ON CONFLICT (site, path) DO UPDATE SET ms = EXCLUDED.ms, seq = EXCLUDED.seq
     WHERE (dropped.ms, dropped.seq) < (EXCLUDED.ms, EXCLUDED.seq)`,
    site,
    JSON.stringify([...newest.values()].map(({ path, ms, seq }) => ({ path, ms, seq }))),
  )
  const bodies = [...new Set(removed.flatMap(({ body }) => (body === null ? [] : [body])))]
  if (bodies.length === 0) return
  await session.run(
    `DELETE FROM body WHERE id = ANY ($1::bigint[]) AND told
     AND NOT EXISTS (SELECT 1 FROM event WHERE event.body = body.id)`,
    bodies,
  )
}

/** @param retention milliseconds that events are kept */
export function prepareRetention(retention: number): Retention {
  /** Bytes and events gained since a path was last looked at. */
  const growth = new Map<string, { site: number; path: string; events: number; bytes: number; most: EventLimits }>()
  const grown = new Set<string>()
  let added = 0
  let site = 0

  /** Looks at a path that has grown, or at all files of a collection. */
  async function limit(session: Session, key: string): Promise<void> {
    const found = growth.get(key)
    growth.delete(key)
    grown.delete(key)
    if (found === undefined) return
    const { site: ofSite, path, most } = found
    if (!namesCollection(path)) return limitPath(session, ofSite, path, most)
    const files = await session.rows<{ path: string }>(
      `SELECT path FROM event WHERE site = $1 AND path >= $2 AND path < $3
       GROUP BY path HAVING count(*) > $4 OR sum(bytes) > $5`,
      ofSite,
      path,
      endOf(path),
      Math.floor(most.events * ROOM),
      Math.floor(most.bytes * ROOM),
    )
    for (const file of files) await limitPath(session, ofSite, file.path, most)
  }

  /** Removes the oldest events of a path until a tenth of its limits is free. The newest is kept whatever its size. */
  async function limitPath(session: Session, ofSite: number, path: string, most: EventLimits): Promise<void> {
    const removed = await session.rows<Removed>(
      `DELETE FROM event e USING (
         SELECT ms, seq FROM (
           SELECT ms, seq, row_number() OVER newest AS events, sum(bytes) OVER newest AS total FROM event
           WHERE site = $1 AND path = $2 WINDOW newest AS (ORDER BY ms DESC, seq DESC)) counted
         WHERE events > 1 AND (events > $3 OR total > $4)) old
       WHERE e.site = $1 AND e.ms = old.ms AND e.seq = old.seq RETURNING e.path, e.ms, e.seq, e.body`,
      ofSite,
      path,
      Math.floor(most.events * ROOM),
      Math.floor(most.bytes * ROOM),
    )
    await follow(session, ofSite, removed)
  }

  /** Removes events of one site that are too old. @returns true when there may be more */
  async function expire(session: Session, before: number): Promise<boolean> {
    const removed = await session.rows<Removed>(
      `DELETE FROM event e USING (
         SELECT ms, seq FROM event WHERE site = $1 AND ms < $2 ORDER BY ms, seq LIMIT ${AT_ONCE}) old
       WHERE e.site = $1 AND e.ms = old.ms AND e.seq = old.seq RETURNING e.path, e.ms, e.seq, e.body`,
      site,
      before,
    )
    if (removed.length > 0) await follow(session, site, removed)
    return removed.length === AT_ONCE
  }

  return {
    grew(ofSite, path, bytes, most = MOST, count = 1) {
      added += count
      const key = `${ofSite} ${path}`
      if (growth.size >= FOLLOWED && !growth.has(key)) growth.clear()
      const found = growth.get(key) ?? { site: ofSite, path, events: 0, bytes: 0, most }
      found.events++
      found.bytes += bytes
      found.most = most
      growth.set(key, found)
      if (found.events >= most.events * SLACK || found.bytes >= most.bytes * SLACK) grown.add(key)
    },
    overdue: () => grown.size > 0 || added >= DUE_AFTER,
    async trim(session, now) {
      // Where many came at once, as many rounds follow.
      added = Math.max(0, added - DUE_AFTER)
      for (const key of grown) await limit(session, key)
      for (let turn = 0; turn < 16; turn++) {
        const next = await session.row<{ site: number }>(
          'SELECT site FROM event WHERE site > $1 ORDER BY site LIMIT 1',
          site,
        )
        site = next?.site ?? 0
        if (next === undefined) break
        if (await expire(session, now - retention)) {
          site--
          return true
        }
      }
      if (site === 0) await session.run('DELETE FROM dropped WHERE ms < $1', now - REMEMBERED)
      return site !== 0
    },
  }
}
