/**
 * What other processes commit: the log that is written with every commit, and one number that says whether there is news.
 * All requests of a moment ask for that number together. A database that was started again or has taken the place of another
 * may lack commits that are known here, and have others with their numbers: then anything may have changed. It lacks none where
 * the last of them was made there by the same process: each takes another name for each life of the database.
 */

import { randomUUID } from 'node:crypto'
import type { ForeignCommits } from '../foreign.ts'
import { KEPT_LOG } from './housekeeping/housekeeping.ts'
import { type Entry, LOG, MAKER, type News, readEntry } from './news.ts'
import type { Reads } from './read/pool.ts'
import type { Watch } from './watch.ts'

/**
 * Milliseconds for which a process that cannot reach the database answers by what it knows. As long as the database is away
 * from everybody nobody commits, and what is known is true; whoever is cut off alone must not go on for ever.
 */
const STALE = 120_000

/** Told of a group of commits of this process: it came behind a version, and ends with another. */
export type Committed = (after: number, to: number) => void

export interface ForeignOptions {
  reads: Reads
  /** Knows the last commit of anybody. */
  watch: Pick<Watch, 'news' | 'awaySince' | 'life'>
  from: Pick<News, 'version' | 'life' | 'by'>
  /** Nobody else commits. */
  isAlone: boolean
}

export interface Foreign extends ForeignCommits {
  committed: Committed
  /** Nobody knows what became of a commit of this process that was to come behind a version: it is told as that of another. */
  doubt(after: number): void
  /** Name of this process in the log of commits: its own commits are no news. */
  origin(): string
  /** Of the database that memory goes by; of the one that answers where nobody keeps any memory in step. */
  life(): string
}

export function readForeign({ reads, watch, from, isAlone }: ForeignOptions): Foreign {
  const { news, awaySince } = watch
  /** `by` has made the commit of the version that was seen last, if that is known. */
  let { version: seen, life, by } = from
  let origin: string = randomUUID()
  /** Version of the last commit of this process. */
  let own = 0
  /** Version behind which commits of this process are in doubt. */
  let doubtful: number | undefined
  let isFollowed = false
  function isForgivable(): boolean {
    const since = awaySince()
    return since !== undefined && performance.now() - since < STALE
  }

  /** The last answer that told of more than had been seen. */
  let heard: News | undefined

  function hear(told: News): boolean {
    if (doubtful === undefined && told.life === life && told.version <= seen) return false
    if (told.life !== heard?.life || told.version > heard.version) heard = told
    return true
  }

  async function makerOf(version: number): Promise<string | undefined> {
    return (await reads.row<{ by: string }>(MAKER, version))?.by
  }

  /** Whether the database has the newest commit that is known here, and so all before it. */
  async function hasAllKnown(): Promise<boolean> {
    const [version, maker] = own > seen ? [own, origin] : [seen, by]
    if (maker === undefined) return false
    return (await makerOf(version)) === maker
  }

  async function entriesBetween(after: number, to: number): Promise<Entry[]> {
    if (to - after > KEPT_LOG) return []
    return (await reads.rows<{ entry: string }>(LOG, after, origin, to)).map(({ entry }) => readEntry(entry))
  }

  /** What is known counts no more. */
  function startOver(version: number, maker: string | undefined): Awaited<ReturnType<ForeignCommits['read']>> {
    by = maker
    own = 0
    seen = version
    return { version, commits: undefined, isSetBack: true }
  }

  /** The newest commit, with what is in doubt told as the work of another: who asks by a new name is told of what may still come. */
  async function newestInDoubt(after: number): Promise<News> {
    origin = randomUUID()
    seen = Math.min(seen, after)
    doubtful = undefined
    try {
      return await news()
    } catch (error) {
      doubt(after)
      throw error
    }
  }

  function doubt(after: number): void {
    if (!isAlone) doubtful = Math.min(after, doubtful ?? after)
  }

  function newestHeard(): News | Promise<News> {
    if (doubtful !== undefined) return newestInDoubt(doubtful)
    return heard?.life === watch.life() ? heard : news()
  }

  async function readLog(): Promise<Awaited<ReturnType<ForeignCommits['read']>>> {
    const { version: to, log, life: now } = await newestHeard()
    heard = undefined
    if (now !== life) {
      const isSetBack = !(await hasAllKnown())
      const maker = isSetBack ? await makerOf(to) : undefined
      // Only now: where it goes away once more, it is found out again.
      life = now
      origin = randomUUID()
      if (isSetBack) return startOver(to, maker)
    }
    const after = seen
    if (to <= after) return { version: after, commits: [] }
    // Commits have numbers without gaps: what has no entry was trimmed, or is not known yet.
    const isWhole = (entries: readonly Entry[]) => entries.length === to - after
    const told = log?.filter(({ version }) => version > after) ?? []
    const entries = isWhole(told) ? told : await entriesBetween(after, to)
    if (to > seen) by = isWhole(entries) ? (entries.at(-1)?.by ?? origin) : undefined
    seen = Math.max(seen, to)
    if (!isWhole(entries)) return { version: to, commits: undefined }
    return { version: to, commits: entries.flatMap(({ commit }) => commit ?? []) }
  }

  return {
    asks: !isAlone,
    origin: () => origin,
    life: () => (isFollowed ? life : watch.life()),
    version: () => seen,
    newest: () => Math.max(seen, own),
    doubt,
    committed(after, to) {
      own = Math.max(own, to)
      // Nobody has committed in between.
      if (after !== seen) return
      seen = to
      by = origin
    },
    waiting() {
      isFollowed = true
      if (isAlone) return watch.life() !== life
      if (isForgivable()) return false
      return news().then(hear, error => {
        if (isForgivable()) return false
        throw error
      })
    },
    async read() {
      try {
        return await readLog()
      } catch (error) {
        // Connections end one by one: whether the database is away shows when it is asked.
        await news().catch(() => undefined)
        if (isForgivable()) return { version: seen, commits: [] }
        throw error
      }
    },
  }
}
