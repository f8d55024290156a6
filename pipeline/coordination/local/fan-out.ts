/** Fan-out within a single process: the store keeps the events and their order, publishing is a call. */

import type { NewEvent } from '../../store/commit.ts'
import { compareEventIds, parseEventId } from '../../store/event-id.ts'
import type { StoredEvent } from '../../store/events.ts'
import type { Store } from '../../store/store.ts'
import type { CommitOutcome, FanOut, Publication, Watcher } from '../fan-out.ts'
import { readAfter, resumeAt } from '../kept-events.ts'

export interface LocalFanOutOptions {
  store: Pick<Store, 'site'>
  /** Told of watchers that throw although they must not. */
  failed?: (error: unknown) => void
}

/** Commits of one path that are on their way, and what those brought that are done. */
interface Lane {
  open: number
  waiting: StoredEvent[]
  interrupted: boolean
}

const SETTLED = Promise.resolve()
const NOTHING: Publication = { finish: () => SETTLED }

export function localFanOut({ store, failed = () => undefined }: LocalFanOutOptions): FanOut {
  const watchers = new Map<string, Set<Watcher>>()
  const lanes = new Map<string, Lane>()
  /** Trees whose files' events are on their way, with the lanes that each has entered. */
  const underWay = new Set<{ trees: readonly string[]; entered: Set<string> }>()

  function guarded(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      failed(error)
    }
  }

  function enter(key: string): void {
    const lane = lanes.get(key)
    if (lane) lane.open++
    else lanes.set(key, { open: 1, waiting: [], interrupted: false })
  }

  /** The last commit to leave a lane sends off what all of them brought, in the order of the store. */
  function leave(key: string): void {
    const lane = lanes.get(key)
    if (!lane || --lane.open > 0) return
    lanes.delete(key)
    const told = watchers.get(key)
    if (!told) return
    const { waiting, interrupted } = lane
    if (waiting.length > 1) waiting.sort(byId)
    for (const watcher of [...told]) {
      for (const event of waiting) guarded(() => watcher.published(event))
      if (interrupted) guarded(() => watcher.interrupted())
    }
  }

  /** Whoever watches a file of these trees is to read on when the commit is done, whenever watching began. */
  function followTrees(site: string, trees: readonly string[]): { finish(outcome: CommitOutcome): void } {
    const following = { trees: trees.map(tree => keyOf(site, tree)), entered: new Set<string>() }
    underWay.add(following)
    for (const key of watchers.keys()) join(following, key)
    return {
      finish(outcome) {
        underWay.delete(following)
        for (const key of following.entered) {
          const lane = lanes.get(key)
          if (lane && outcome !== 'refused') lane.interrupted = true
          leave(key)
        }
      },
    }
  }

  function join({ trees, entered }: { trees: readonly string[]; entered: Set<string> }, key: string): void {
    if (entered.has(key) || !trees.some(tree => key.startsWith(tree))) return
    entered.add(key)
    enter(key)
  }

  function publication(site: string, news: readonly NewEvent[], trees: readonly string[]): Publication {
    const keys = new Set(news.map(({ path }) => keyOf(site, path)))
    for (const key of keys) enter(key)
    const followed = trees.length > 0 ? followTrees(site, trees) : undefined
    return {
      finish(outcome) {
        followed?.finish(outcome)
        for (const [key, event] of arrivals(site, news, outcome)) {
          if (watchers.has(key)) lanes.get(key)?.waiting.push(event)
        }
        for (const key of keys) {
          const lane = lanes.get(key)
          if (lane && outcome === 'unknown') lane.interrupted = true
          leave(key)
        }
        return SETTLED
      },
    }
  }

  return {
    begin: (site, news, trees = []) => (news.length + trees.length === 0 ? NOTHING : publication(site, news, trees)),
    watch(site, path, watcher) {
      const key = keyOf(site, path)
      let told = watchers.get(key)
      if (!told) {
        watchers.set(key, (told = new Set()))
        for (const following of underWay) join(following, key)
      }
      told.add(watcher)
      return () => {
        told.delete(watcher)
        if (told.size === 0 && watchers.get(key) === told) watchers.delete(key)
      }
    },
    resume: (site, path, last) => resumeAt(store.site(site), path, last),
    read: (site, path, after, limit) => readAfter(store.site(site), path, after, limit),
    async close() {
      watchers.clear()
    },
  }
}

function keyOf(site: string, path: string): string {
  return `${site}\n${path}`
}

function* arrivals(site: string, news: readonly NewEvent[], outcome: CommitOutcome): Generator<[string, StoredEvent]> {
  if (typeof outcome === 'string') return
  const { version, events } = outcome
  for (const [i, event] of news.entries()) {
    const id = events[i]
    if (id !== undefined) yield [keyOf(site, event.path), { ...event, id, version }]
  }
}

function byId(a: StoredEvent, b: StoredEvent): number {
  const [first, second] = [parseEventId(a.id), parseEventId(b.id)]
  return first && second ? compareEventIds(first, second) : 0
}
