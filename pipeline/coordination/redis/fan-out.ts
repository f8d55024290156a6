/**
 * Fan-out between processes that share a store. The store gives events their ids in the transaction of their commit and
 * keeps them for replay, so every process reads the same ones in the same order (EVT-45, EVT-80). Redis carries the word
 * that there is something to read; when word is lost the store still tells, a moment later.
 */

import { randomUUID } from 'node:crypto'
import type { ForeignCommit } from '../../store/foreign.ts'
import type { Store } from '../../store/store.ts'
import type { CommitOutcome, FanOut, Publication, Watcher } from '../fan-out.ts'
import { readAfter, resumeAt } from '../kept-events.ts'
import type { RedisConnection } from './connection.ts'
import { gather } from './gathering.ts'

/** Follows what other processes commit. */
export interface Following {
  /** Follows everything that was acknowledged before the call; undefined when there is nothing to follow. */
  inStep(): Promise<void> | undefined
  /**
   * Has a function told of commits of other processes after memory has followed them; `undefined` stands for any.
   *
   * @returns ends that
   */
  onCommit(listener: (commit: ForeignCommit | undefined, isSetBack: boolean) => void): () => void
}

export interface RedisFanOutOptions {
  /** Shared with the other processes. */
  store: Pick<Store, 'site'>
  coherence: Following
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** Told of failures to read, and of watchers that throw although they must not. */
  failed?: (error: unknown) => void
}

/** Events read at a time. */
const BATCH = 256

/** Milliseconds after which events that could not be read are asked for again. */
const READ_AGAIN = 200

/** A path that is watched in this process. */
interface Lane {
  site: string
  path: string
  watchers: Set<Watcher>
  /** Id of the newest event when watching began; afterwards of the last one that the watchers were told of. */
  position: Promise<string | undefined>
  /** How often the store had been set back by then. */
  setBacks: number
  isReading: boolean
  /** There may be events behind the position. */
  isBehind: boolean
}

export function redisFanOut(options: RedisFanOutOptions): FanOut {
  const { store, coherence, connection, prefix = 'scriptorium', failed = () => undefined } = options
  const channel = `${prefix}:commits`
  /** What this process has committed is no news to it. */
  const self = randomUUID()
  const lanes = new Map<string, Lane>()
  let isTelling = false
  let isClosed = false
  let setBacks = 0

  function guarded(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      failed(error)
    }
  }

  /** Tells watchers of what has come, in the order of the store. */
  async function advance(lane: Lane): Promise<void> {
    const { path, watchers } = lane
    const kept = store.site(lane.site)
    const after = await lane.position
    const times = setBacks
    // Its position may be one of events that are gone.
    const events = lane.setBacks === times ? await readAfter(kept, path, after, BATCH) : undefined
    const newest = events ? (events.at(-1)?.id ?? after) : await kept.newestEvent(path)
    // Whoever hears of an event may read the state that it tells of, and is judged by the rules of that state.
    await coherence.inStep()
    lane.position = Promise.resolve(newest)
    lane.setBacks = times
    lane.isBehind ||= events?.length === BATCH
    for (const watcher of [...watchers]) {
      if (!events) guarded(() => watcher.interrupted())
      else for (const event of events) guarded(() => watcher.published(event))
    }
  }

  async function serve(lane: Lane): Promise<void> {
    lane.isBehind = true
    if (lane.isReading) return
    lane.isReading = true
    try {
      while (lane.isBehind && lane.watchers.size > 0 && !isClosed) {
        lane.isBehind = false
        await advance(lane)
      }
    } catch (error) {
      failed(error)
      // Nobody else may have a reason to look at this path again.
      setTimeout(() => void serve(lane), READ_AGAIN).unref()
    } finally {
      lane.isReading = false
    }
  }

  /** To be called after a commit: of all lanes the trees alone are asked for, as it may name thousands of paths. */
  function serveAll(site: string, paths: readonly string[]): void {
    const concerned = new Set(paths.flatMap(path => lanes.get(keyOf(site, path)) ?? []))
    const trees = paths.filter(path => path.endsWith('/'))
    if (trees.length > 0)
      for (const lane of lanes.values())
        if (lane.site === site && trees.some(tree => isBelow(lane.path, tree))) concerned.add(lane)
    for (const lane of concerned) void serve(lane)
  }

  /** Word of everything that is committed in one turn of the event loop goes out once. */
  function tellOthers(): void {
    if (isTelling) return
    isTelling = true
    setImmediate(() => {
      isTelling = false
      // Lost word is made up for: the others look for themselves now and then.
      if (isClosed) return
      gather(connection.redis)
      connection.redis.publish(channel, self).catch(() => undefined)
    })
  }

  const lookAround = () => void coherence.inStep()
  void connection.hear(channel, from => {
    // Memory follows before the next request; who watches hears of it now.
    if (from !== self && lanes.size > 0) lookAround()
  })
  connection.onResume(lookAround)
  const stopListening = coherence.onCommit((commit, isSetBack) => {
    if (isSetBack) setBacks++
    if (commit) serveAll(commit.site, commit.paths)
    else for (const lane of lanes.values()) void serve(lane)
  })

  async function finish(site: string, paths: ReadonlySet<string>, outcome: CommitOutcome): Promise<void> {
    if (outcome === 'refused') return
    tellOthers()
    for (const path of paths) {
      const lane = lanes.get(keyOf(site, path))
      if (!lane) continue
      if (outcome === 'unknown') for (const watcher of [...lane.watchers]) guarded(() => watcher.interrupted())
      void serve(lane)
    }
  }

  return {
    begin(site, news, trees = []): Publication {
      const paths = new Set(news.map(({ path }) => path))
      if (paths.size + trees.length === 0) return { finish: () => Promise.resolve() }
      return {
        finish: outcome => {
          for (const lane of trees.length === 0 ? [] : lanes.values())
            if (lane.site === site && trees.some(tree => isBelow(lane.path, tree))) paths.add(lane.path)
          return finish(site, paths, outcome)
        },
      }
    },
    watch(site, path, watcher) {
      const key = keyOf(site, path)
      let lane = lanes.get(key)
      if (!lane) {
        const position = store.site(site).newestEvent(path)
        // A failure shows when the position is needed.
        position.catch(() => undefined)
        lane = { site, path, watchers: new Set(), position, setBacks, isReading: false, isBehind: false }
        lanes.set(key, lane)
      }
      const { watchers } = lane
      watchers.add(watcher)
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0 && lanes.get(key)?.watchers === watchers) lanes.delete(key)
      }
    },
    async resume(site, path, last) {
      // A watcher of this path must not begin behind the place that is found here.
      await lanes.get(keyOf(site, path))?.position
      return resumeAt(store.site(site), path, last)
    },
    async read(site, path, after, limit) {
      const events = await readAfter(store.site(site), path, after, limit)
      await coherence.inStep()
      return events
    },
    async close() {
      isClosed = true
      stopListening()
      lanes.clear()
    },
  }
}

function keyOf(site: string, path: string): string {
  return `${site}\n${path}`
}

function isBelow(path: string, collection: string): boolean {
  return collection.endsWith('/') && path.startsWith(collection)
}
