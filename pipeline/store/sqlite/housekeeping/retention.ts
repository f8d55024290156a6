/**
 * Forgetting events: by age, and by number and size per path (EVT-46). What was dropped last is remembered for a day.
 * Bodies that only they shared go with them.
 */

import { endOf, namesCollection } from '../../paths.ts'
import type { Database } from '../database.ts'

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

interface EventKey {
  ms: number
  seq: number
}

/** Runs inside a write transaction that its caller opens and ends. */
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

  /** Bytes and events gained since a path was last looked at. */
  const growth = new Map<string, { site: number; path: string; events: number; bytes: number; most: EventLimits }>()
  const grown = new Set<string>()
  let added = 0
  let site = 0

  /** Looks at a path that has grown, or at all files of a collection. */
  function limit(key: string): void {
    const found = growth.get(key)
    growth.delete(key)
    grown.delete(key)
    if (found === undefined) return
    const { site: ofSite, path, most } = found
    if (!namesCollection(path)) limitPath(ofSite, path, most)
    else
      for (const file of beyondBelow.all(ofSite, path, endOf(path), most.events * ROOM, most.bytes * ROOM))
        limitPath(ofSite, file.path, most)
  }

  /** Removes the oldest events of a path until a tenth of its limits is free. */
  function limitPath(ofSite: number, path: string, most: EventLimits): void {
    let events = 0
    let bytes = 0
    for (const event of ofPath.all(ofSite, path)) {
      events++
      bytes += event.bytes
      // The newest is kept whatever its size.
      if (events === 1 || (events <= most.events * ROOM && bytes <= most.bytes * ROOM)) continue
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
    trim(now) {
      // Where many came at once, as many rounds follow.
      added = Math.max(0, added - DUE_AFTER)
      for (const key of grown) limit(key)
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
