/** Events in tables: their ids, and when a path has more of them than is kept (EVT-45, EVT-46). */

import { randomInt } from 'node:crypto'
import type { NewEvent } from '../commit.ts'

/** Most events and bytes of payload kept per path. */
export interface EventLimits {
  events: number
  bytes: number
}

const MOST: EventLimits = { events: 10_000, bytes: 16 * 1024 * 1024 }

/** Milliseconds that the last dropped id of a path is kept (EVT-49). */
export const REMEMBERED = 24 * 60 * 60_000

/** Events removed in one go, so that commits never wait long for it. */
export const AT_ONCE = 1000

/** New events after which old ones are due: half of what is removed in one go, so that a backlog shrinks. */
const DUE_AFTER = AT_ONCE / 2

/** A path is looked at whenever it gained this part of its limits, and loses it where it exceeds them. */
const SLACK = 0.1

/** Paths whose growth is followed; beyond that the count starts anew. */
const FOLLOWED = 10_000

/** What a path with these limits keeps when it loses events. */
export function roomOf({ events, bytes }: EventLimits): EventLimits {
  return { events: events * (1 - SLACK), bytes: bytes * (1 - SLACK) }
}

/** A path that may exceed its limits; that of a collection stands for all files in it. */
export interface GrownPath {
  site: number
  path: string
  most: EventLimits
}

/** Follows how many events paths gain. */
export interface EventGrowth {
  /**
   * Notes that a path gained an event; the limits are 10,000 events and 16 MiB if not given (EVT-46). The path of a
   * collection stands for every file in it; `count` says how many events that were.
   */
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
  /** True when so much was added, to a path or in all, that events should be removed soon. */
  overdue(): boolean
  /** Begins a round of removing: the paths that have grown, each once. */
  takeGrown(): Iterable<GrownPath>
}

export function followGrowth(): EventGrowth {
  /** Bytes and events gained since a path was last looked at. */
  const growth = new Map<string, GrownPath & EventLimits>()
  const grown = new Set<string>()
  let added = 0
  return {
    grew(site, path, bytes, most = MOST, count = 1) {
      added += count
      const key = `${site} ${path}`
      if (growth.size >= FOLLOWED && !growth.has(key)) growth.clear()
      const found = growth.get(key) ?? { site, path, events: 0, bytes: 0, most }
      found.events++
      found.bytes += bytes
      found.most = most
      growth.set(key, found)
      if (found.events >= most.events * SLACK || found.bytes >= most.bytes * SLACK) grown.add(key)
    },
    overdue: () => grown.size > 0 || added >= DUE_AFTER,
    *takeGrown() {
      // Where many came at once, as many rounds follow.
      added = Math.max(0, added - DUE_AFTER)
      for (const key of grown) {
        const found = growth.get(key)
        growth.delete(key)
        grown.delete(key)
        if (found) yield found
      }
    },
  }
}

/**
 * The counter of the next event's id: the timestamp never falls, the counter rises within one timestamp (EVT-45). Whoever
 * takes counters notes the last of them in the state.
 *
 * @param state.at time of the commit, unix milliseconds; `ms` and `seq` are those of the last id and follow
 */
export function startEventIds(state: { readonly at: number; ms: number; readonly seq: number }): number {
  const first = state.at > state.ms ? 0 : state.seq + 1
  state.ms = Math.max(state.at, state.ms)
  return first
}

/** How far counters of events that follow from a write lie apart: as many commits fit into a millisecond as the clock may stand still. */
const APART = 2 ** 24

/**
 * Events of a commit with their counters. Those that follow from a write get some that do not hang on how many others there
 * are: who hears of one document may not know of the rest (SEC-6). On one path they rise all the same.
 *
 * @param state as for `startEventIds`; its `seq` becomes the highest of the counters
 */
export function withCounters<Event extends Pick<NewEvent, 'path' | 'follows'>>(
  state: { readonly at: number; ms: number; seq: number },
  events: readonly Event[] = [],
): (readonly [Event, counter: number])[] {
  if (events.length === 0) return []
  const own = events.filter(({ follows }) => !follows)
  const first = startEventIds(state)
  const last = first + own.length - 1
  const drawn = new Set<number>()
  const draw = (): number => {
    const counter = last + 1 + randomInt(APART)
    if (drawn.has(counter)) return draw()
    drawn.add(counter)
    return counter
  }
  const counters = new Map(own.map((event, i) => [event, first + i]))
  for (const together of Map.groupBy(
    events.filter(({ follows }) => follows),
    ({ path }) => path,
  ).values()) {
    const rising = together.map(draw).sort((one, other) => one - other)
    for (const [i, event] of together.entries()) counters.set(event, rising[i] ?? 0)
  }
  state.seq = [...drawn].reduce((most, counter) => Math.max(most, counter), last)
  return events.map(event => [event, counters.get(event) ?? 0])
}
