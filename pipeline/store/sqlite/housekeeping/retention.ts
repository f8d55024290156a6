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
import type { Database } from '../database.ts'
import { GRACE } from './sweep.ts'

interface EventKey {
  ms: number
  seq: number
}

/** Runs inside a write transaction that its caller opens and ends. */
export interface Retention extends Pick<EventGrowth, 'grew' | 'overdue'> {
  /**
   * Removes events older than a time and those beyond the limits of their path.
   * @param now unix milliseconds
   * @returns true when more is waiting
   */
  trim(now: number): boolean
}

/**
 * @param database a connection for writing
 * @param retention milliseconds that events are kept
 */
export function prepareRetention(database: Database, retention: number): Retention {
  const nextSite = database.prepare<{ site: number }>('SELECT site FROM event WHERE site > ? ORDER BY site LIMIT 1')
  const old = database.prepare<EventKey & { path: string }>(
    `SELECT ms, seq, path FROM event WHERE site = ? AND ms < ? ORDER BY ms, seq LIMIT ${AT_ONCE}`,
  )
  const sharedOld = database.prepare<{ body: number }>(
    'SELECT DISTINCT body FROM event WHERE site = ?1 AND (ms, seq) <= (?2, ?3) AND body NOTNULL',
  )
  const sharedOfPath = database.prepare<{ body: number }>(
    'SELECT DISTINCT body FROM event WHERE site = ?1 AND path = ?2 AND (ms, seq) <= (?3, ?4) AND body NOTNULL',
  )
  const release = database.prepare(
    `DELETE FROM body WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM event WHERE body = ?1)
     AND NOT EXISTS (SELECT 1 FROM resource WHERE id = ?1 AND kind <> 0 AND in_file = 0)`,
  )
  const removeOld = database.prepare('DELETE FROM event WHERE site = ?1 AND (ms, seq) <= (?2, ?3)')
  const drop = database.prepare(
    'INSERT INTO dropped (site, path, ms, seq) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET ms = ?3, seq = ?4 WHERE (ms, seq) < (?3, ?4)',
  )
  const ofPath = database.prepare<EventKey & { bytes: number }>(
    'SELECT ms, seq, bytes FROM event WHERE site = ? AND path = ? ORDER BY ms DESC, seq DESC',
  )
  const removeOfPath = database.prepare('DELETE FROM event WHERE site = ?1 AND path = ?2 AND (ms, seq) <= (?3, ?4)')
  const forget = database.prepare('DELETE FROM dropped WHERE ms < ?')
  const beyondBelow = database.prepare<{ path: string }>(
    'SELECT path FROM event WHERE site = ? AND path >= ? AND path < ? GROUP BY path HAVING count(*) > ? OR sum(bytes) > ?',
  )

  const growth = followGrowth()
  let site = 0

  /** Looks at a path that has grown, or at all files of a collection. */
  function limit({ site: ofSite, path, most }: GrownPath): void {
    const room = roomOf(most)
    if (!namesCollection(path)) limitPath(ofSite, path, room)
    else
      for (const file of beyondBelow.all(ofSite, path, endOf(path), room.events, room.bytes))
        limitPath(ofSite, file.path, room)
  }

  /** Removes the oldest events of a path, all but what has room. */
  function limitPath(ofSite: number, path: string, room: EventLimits): void {
    let events = 0
    let bytes = 0
    for (const event of ofPath.all(ofSite, path)) {
      events++
      bytes += event.bytes
      // The newest is kept whatever its size.
      if (events === 1 || (events <= room.events && bytes <= room.bytes)) continue
      drop.run(ofSite, path, event.ms, event.seq)
      const shared = sharedOfPath.all(ofSite, path, event.ms, event.seq)
      removeOfPath.run(ofSite, path, event.ms, event.seq)
      for (const { body } of shared) release.run(body)
      return
    }
  }

  /** Removes events of one site that are too old. @returns true when there may be more */
  function expire(before: number): boolean {
    const events = old.all(site, before)
    const last = events.at(-1)
    if (last === undefined) return false
    // The last one of each path in ascending order is the newest that is dropped.
    const newest = new Map(events.map(event => [event.path, event]))
    for (const { path, ms, seq } of newest.values()) drop.run(site, path, ms, seq)
    const shared = sharedOld.all(site, last.ms, last.seq)
    removeOld.run(site, last.ms, last.seq)
    for (const { body } of shared) release.run(body)
    return events.length === AT_ONCE
  }

  return {
    grew: growth.grew,
    overdue: growth.overdue,
    trim(now) {
      for (const grown of growth.takeGrown()) limit(grown)
      for (let turn = 0; turn < 16; turn++) {
        const next = nextSite.get(site)?.site
        site = next ?? 0
        if (next === undefined) break
        if (expire(now - retention)) {
          site--
          return true
        }
      }
      if (site === 0) forget.run(now - REMEMBERED)
      return site !== 0
    },
  }
}

/**
 * Whether something lies in the store that its writing thread would clean away: asked while there is no such thread.
 *
 * @param database a connection for reading
 * @param retention milliseconds that events are kept
 * @returns tells at a time, in unix milliseconds
 */
export function prepareOverdue(database: Database, retention: number): (now: number) => boolean {
  const found = database.prepare<{ found: number }>(
    `SELECT EXISTS (SELECT 1 FROM site s WHERE EXISTS (SELECT 1 FROM event WHERE site = s.id AND ms < ?1))
       OR EXISTS (SELECT 1 FROM blob WHERE unused < ?2)
       OR EXISTS (SELECT 1 FROM note WHERE expires <= ?3)
       OR EXISTS (SELECT 1 FROM dropped WHERE ms < ?4) AS found`,
  )
  return now => found.get(now - retention, now - GRACE, now, now - REMEMBERED)?.found === 1
}
