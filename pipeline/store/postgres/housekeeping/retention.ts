/**
 * Forgetting events: by age, and by number and size per path (EVT-46). What was dropped last is remembered for a day.
 * Bodies that only they shared go with them.
 */

import { endOf, namesCollection } from '../../paths.ts'
import {
  AT_ONCE,
  type EventGrowth,
  type EventLimits,
  followGrowth,
  type GrownPath,
  REMEMBERED,
  roomOf,
} from '../../records/events.ts'
import type { Session } from '../session.ts'

/** Runs inside a transaction that its caller opens and ends. */
export interface Retention extends Pick<EventGrowth, 'grew' | 'overdue'> {
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
  const growth = followGrowth()
  let site = 0

  /** Looks at a path that has grown, or at all files of a collection. */
  async function limit(session: Session, { site: ofSite, path, most }: GrownPath): Promise<void> {
    const room = roomOf(most)
    if (!namesCollection(path)) return limitPath(session, ofSite, path, room)
    const files = await session.rows<{ path: string }>(
      `SELECT path FROM event WHERE site = $1 AND path >= $2 AND path < $3
       GROUP BY path HAVING count(*) > $4 OR sum(bytes) > $5`,
      ofSite,
      path,
      endOf(path),
      Math.floor(room.events),
      Math.floor(room.bytes),
    )
    for (const file of files) await limitPath(session, ofSite, file.path, room)
  }

  /** Removes the oldest events of a path, all but what has room. The newest is kept whatever its size. */
  async function limitPath(session: Session, ofSite: number, path: string, room: EventLimits): Promise<void> {
    const removed = await session.rows<Removed>(
      `DELETE FROM event e USING (
         SELECT ms, seq FROM (
           SELECT ms, seq, row_number() OVER newest AS events, sum(bytes) OVER newest AS total FROM event
           WHERE site = $1 AND path = $2 WINDOW newest AS (ORDER BY ms DESC, seq DESC)) counted
         WHERE events > 1 AND (events > $3 OR total > $4)) old
       WHERE e.site = $1 AND e.ms = old.ms AND e.seq = old.seq RETURNING e.path, e.ms, e.seq, e.body`,
      ofSite,
      path,
      Math.floor(room.events),
      Math.floor(room.bytes),
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
    grew: growth.grew,
    overdue: growth.overdue,
    async trim(session, now) {
      for (const grown of growth.takeGrown()) await limit(session, grown)
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
