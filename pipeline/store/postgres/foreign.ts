/**
 * What other processes commit: the log that is written with every commit, and one number that says whether there is news.
 * All requests of a moment ask for that number together.
 */

import type { ForeignCommits } from '../foreign.ts'
import { KEPT_LOG } from './housekeeping/housekeeping.ts'
import { type Entry, LOG, type News, readEntry } from './news.ts'
import type { Reads } from './read/pool.ts'
import type { Watch } from './watch.ts'

/**
 * Milliseconds for which a process that cannot reach the database answers by what it knows. As long as the database is away
 * from everybody nobody commits, and what is known is true; whoever is cut off alone must not go on for ever.
 */
const STALE = 120_000

/** Told of a group of commits of this process: it came behind a version, and ends with another. */
export type Committed = (after: number, to: number) => void

/**
 * @param watch knows the number of the last commit of anybody
 * @param origin of this process: its own commits are no news
 */
export function readForeign(
  reads: Reads,
  { news, awaySince }: Pick<Watch, 'news' | 'awaySince'>,
  origin: string,
  from: number,
): ForeignCommits & { committed: Committed } {
  let seen = from
  /** Version of the last commit of this process. */
  let own = from
  function isForgivable(): boolean {
    const since = awaySince()
    return since !== undefined && performance.now() - since < STALE
  }

  /** The last answer that told of more than had been seen. */
  let heard: News | undefined

  function hear(told: News): boolean {
    if (told.version <= seen) return false
    if (told.version > (heard?.version ?? 0)) heard = told
    return true
  }

  async function entriesBetween(after: number, to: number): Promise<Entry[]> {
    if (to - after > KEPT_LOG) return []
    return (await reads.rows<{ entry: string }>(LOG, after, origin, to)).map(({ entry }) => readEntry(entry))
  }

  async function readLog(): Promise<Awaited<ReturnType<ForeignCommits['read']>>> {
    const { version: to, log } = heard ?? (await news())
    heard = undefined
    const after = seen
    if (to <= after) return { version: after, commits: [] }
    // Commits have numbers without gaps: what has no entry was trimmed, or is not known yet.
    const isWhole = (entries: readonly Entry[]) => entries.length === to - after
    const told = log?.filter(({ version }) => version > after) ?? []
    const entries = isWhole(told) ? told : await entriesBetween(after, to)
    seen = Math.max(seen, to)
    if (!isWhole(entries)) return { version: to, commits: undefined }
    return { version: to, commits: entries.flatMap(({ commit }) => commit ?? []) }
  }

  return {
    asks: true,
    version: () => seen,
    newest: () => Math.max(seen, own),
    committed(after, to) {
      own = Math.max(own, to)
      // Nobody has committed in between.
      if (after === seen) seen = to
    },
    waiting() {
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
