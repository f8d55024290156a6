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
import { BUNDLED, BUNDLED_AT, ofFile, PATH, placeOf, REMOVED, SEQ } from '../bundles.ts'
import type { Database } from '../database.ts'
import { GRACE } from './sweep.ts'

/** Bundles of a bucket that are kept at most: whoever looks for a file goes through them. */
const BUNDLES = 1000

/** Events of a path up to one of them. SQLite itself would go through those of all paths of the site. */
const OF_PATH = 'event INDEXED BY event_path WHERE site = ?1 AND path = ?2 AND (ms, seq) <= (?3, ?4)'

interface EventKey {
  ms: number
  seq: number
}

/** What is beyond the room of a path. @param events newest first; the first is kept whatever its size */
function beyond<Event extends { bytes: number }>(events: readonly Event[], room: EventLimits): Event[] {
  let bytes = 0
  const kept = events.findIndex((event, i) => {
    bytes += event.bytes
    return i > 0 && (i >= room.events || bytes > room.bytes)
  })
  return kept < 0 ? [] : events.slice(kept)
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
  const nextSite = database.prepare<{ site: number | null }>(
    `SELECT min(site) AS site FROM (SELECT min(site) AS site FROM event WHERE site > ?1
     UNION ALL SELECT min(site) FROM event_bundle WHERE site > ?1)`,
  )
  const old = database.prepare<EventKey & { path: string }>(
    `SELECT ms, seq, path FROM event WHERE site = ? AND ms < ? ORDER BY ms, seq LIMIT ${AT_ONCE}`,
  )
  const sharedOld = database.prepare<{ body: number }>(
    'SELECT DISTINCT body FROM event WHERE site = ?1 AND (ms, seq) <= (?2, ?3) AND body NOTNULL',
  )
  const sharedOfPath = database.prepare<{ body: number }>(`SELECT DISTINCT body FROM ${OF_PATH} AND body NOTNULL`)
  const release = database.prepare(
    `DELETE FROM body WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM event WHERE body = ?1)
     AND NOT EXISTS (SELECT 1 FROM resource WHERE id = ?1 AND kind <> 0 AND in_file = 0)`,
  )
  const removeOld = database.prepare('DELETE FROM event WHERE site = ?1 AND (ms, seq) <= (?2, ?3)')
  const drop = database.prepare(
    'INSERT INTO dropped (site, path, ms, seq) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET ms = ?3, seq = ?4 WHERE (ms, seq) < (?3, ?4)',
  )
  const ofPath = database.prepare<EventKey & { bytes: number }>(
    `SELECT ms, seq, bytes FROM event WHERE site = ?1 AND path = ?2
     UNION ALL SELECT b.ms, ${SEQ}, b.bytes FROM ${BUNDLED_AT} WHERE b.site = ?1 AND ${ofFile(3)}
     ORDER BY 1 DESC, 2 DESC`,
  )
  const removeOfPath = database.prepare(`DELETE FROM ${OF_PATH}`)
  const forget = database.prepare('DELETE FROM dropped WHERE ms < ?')
  const beyondBelow = database.prepare<{ path: string }>(
    'SELECT path FROM event WHERE site = ? AND path >= ? AND path < ? GROUP BY path HAVING count(*) > ? OR sum(bytes) > ?',
  )

  const oldBundles = database.prepare<EventKey & { count: number }>(
    `SELECT ms, seq, count FROM event_bundle WHERE site = ? AND ms < ? ORDER BY ms, seq LIMIT ${AT_ONCE}`,
  )
  const bundlesOfPath = database.prepare<EventKey & { at: number }>(
    `SELECT b.ms, b.seq, n.key AS at FROM ${BUNDLED_AT} WHERE b.site = ?1 AND ${ofFile(2)}
       AND (b.ms, ${SEQ}) <= (?6, ?7)`,
  )
  const crowded = database.prepare<{ folder: string; bucket: number }>(
    `SELECT folder, bucket FROM event_bundle WHERE site = ? AND folder >= ? AND folder < ?
     GROUP BY folder, bucket HAVING count(*) > ? OR sum(bytes) > ?`,
  )
  const inBucket = database.prepare<EventKey & { bytes: number }>(
    `SELECT ms, seq, bytes FROM event_bundle INDEXED BY event_bundle_place
     WHERE site = ? AND folder = ? AND bucket = ? ORDER BY ms DESC, seq DESC`,
  )
  const dropBundle = database.prepare(
    `INSERT INTO dropped (site, path, ms, seq) SELECT b.site, ${PATH}, b.ms, ${SEQ} FROM ${BUNDLED}
     WHERE b.site = ? AND b.ms = ? AND b.seq = ? AND n.value <> '${REMOVED}'
     ON CONFLICT DO UPDATE SET ms = excluded.ms, seq = excluded.seq WHERE (ms, seq) < (excluded.ms, excluded.seq)`,
  )
  const removeName = database.prepare(
    `UPDATE event_bundle SET names = json_replace(names, '$[' || CAST(? AS INTEGER) || ']', '${REMOVED}') WHERE site = ? AND ms = ? AND seq = ?`,
  )
  const removeBundle = database.prepare('DELETE FROM event_bundle WHERE site = ? AND ms = ? AND seq = ?')

  const growth = followGrowth()
  let site = 0

  /** Looks at a path that has grown, or at all files of a collection. */
  function limit({ site: ofSite, path, most }: GrownPath): void {
    const room = roomOf(most)
    if (!namesCollection(path)) {
      limitPath(ofSite, path, room)
      return
    }
    // What is not looked at further takes no more than one half in rows, and the other in bundles.
    const [half, bytes] = [room.events / 2, room.bytes / 2]
    for (const file of beyondBelow.all(ofSite, path, endOf(path), half, bytes)) limitPath(ofSite, file.path, room)
    const events = Math.min(half, BUNDLES)
    for (const { folder, bucket } of crowded.all(ofSite, path, endOf(path), events, bytes))
      for (const bundle of beyond(inBucket.all(ofSite, folder, bucket), { events, bytes })) removeWhole(ofSite, bundle)
  }

  /** Removes a bundle and remembers its events. */
  function removeWhole(ofSite: number, { ms, seq }: EventKey): void {
    dropBundle.run(ofSite, ms, seq)
    removeBundle.run(ofSite, ms, seq)
  }

  /** Removes the oldest events of a path, all but what has room. */
  function limitPath(ofSite: number, path: string, room: EventLimits): void {
    const place = placeOf(path)
    const [last] = beyond(ofPath.all(ofSite, path, ...place), room)
    if (last === undefined) return
    const { ms, seq } = last
    drop.run(ofSite, path, ms, seq)
    const shared = sharedOfPath.all(ofSite, path, ms, seq)
    removeOfPath.run(ofSite, path, ms, seq)
    for (const { body } of shared) release.run(body)
    for (const bundle of bundlesOfPath.all(ofSite, ...place, ms, seq))
      removeName.run(bundle.at, ofSite, bundle.ms, bundle.seq)
  }

  /** Removes events of one site that are too old. @returns true when there may be more */
  function expire(before: number): boolean {
    const events = old.all(site, before)
    const last = events.at(-1)
    if (last !== undefined) {
      // The last one of each path in ascending order is the newest that is dropped.
      const newest = new Map(events.map(event => [event.path, event]))
      for (const { path, ms, seq } of newest.values()) drop.run(site, path, ms, seq)
      const shared = sharedOld.all(site, last.ms, last.seq)
      removeOld.run(site, last.ms, last.seq)
      for (const { body } of shared) release.run(body)
    }
    let inBundles = 0
    for (const bundle of oldBundles.all(site, before)) {
      removeWhole(site, bundle)
      inBundles += bundle.count
      if (inBundles >= AT_ONCE) break
    }
    return events.length === AT_ONCE || inBundles >= AT_ONCE
  }

  return {
    grew: growth.grew,
    overdue: growth.overdue,
    trim(now) {
      for (const grown of growth.takeGrown()) limit(grown)
      for (let turn = 0; turn < 16; turn++) {
        const next = nextSite.get(site)?.site ?? undefined
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
    `SELECT EXISTS (SELECT 1 FROM site s WHERE EXISTS (SELECT 1 FROM event WHERE site = s.id AND ms < ?1)
         OR EXISTS (SELECT 1 FROM event_bundle WHERE site = s.id AND ms < ?1))
       OR EXISTS (SELECT 1 FROM blob WHERE unused < ?2)
       OR EXISTS (SELECT 1 FROM note WHERE expires <= ?3)
       OR EXISTS (SELECT 1 FROM dropped WHERE ms < ?4) AS found`,
  )
  return now => found.get(now - retention, now - GRACE, now, now - REMEMBERED)?.found === 1
}
