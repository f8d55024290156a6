/**
 * What other processes commit: the log that is written with every commit, and one number that says whether there is news.
 * All requests of a moment ask for that number together.
 */

import { OUTDATED } from '../derivation.ts'
import type { ForeignCommit, ForeignCommits } from '../foreign.ts'
import { KEPT_LOG } from './housekeeping/housekeeping.ts'
import type { Reads } from './read/pool.ts'
import { unpack } from './text.ts'
import type { Watch } from './watch.ts'

interface Entry {
  version: number
  origin: string
  site: string
  paths: string
  raised: string
  edit: string | null
  outdated: boolean
}

function commitOf({ version, site, paths, raised, edit, outdated }: Entry): ForeignCommit {
  return {
    version,
    site,
    paths: JSON.parse(paths) as string[],
    raised: JSON.parse(raised) as string[],
    ...(edit !== null && { edit: unpack(edit) }),
    ...(outdated && { outdated }),
  }
}

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
  { newest, awaySince }: Pick<Watch, 'newest' | 'awaySince'>,
  origin: string,
  from: number,
): ForeignCommits & { committed: Committed } {
  let seen = from
  /** Version of the last commit of this process. */
  let own = from
  function isForgivable(): boolean {
    const since = awaySince()
    return since !== undefined && Date.now() - since < STALE
  }

  async function readLog(): Promise<Awaited<ReturnType<ForeignCommits['read']>>> {
    const after = seen
    const to = await newest()
    if (to <= seen) return { version: seen, commits: [] }
    const entries =
      to - after > KEPT_LOG
        ? []
        : await reads.rows<Entry>(
            `SELECT version, origin, site, paths, raised, edit, EXISTS (
               SELECT FROM derived d JOIN site s ON s.id = d.site WHERE s.name = l.site AND d.name = '${OUTDATED}'
             ) AS outdated FROM commit_log l WHERE version > $1 AND version <= $2 ORDER BY version`,
            after,
            to,
          )
    seen = Math.max(seen, to)
    // Commits have numbers without gaps: what has no entry was trimmed.
    if (entries.length !== to - after) return { version: to, commits: undefined }
    return { version: to, commits: entries.filter(entry => entry.origin !== origin).map(commitOf) }
  }

  return {
    version: () => seen,
    newest: () => Math.max(seen, own),
    committed(after, to) {
      own = Math.max(own, to)
      // Nobody has committed in between.
      if (after === seen) seen = to
    },
    waiting() {
      if (isForgivable()) return false
      return newest().then(
        version => version > seen,
        error => {
          if (isForgivable()) return false
          throw error
        },
      )
    },
    async read() {
      try {
        return await readLog()
      } catch (error) {
        // Connections end one by one: whether the database is away shows when it is asked.
        await newest().catch(() => undefined)
        if (isForgivable()) return { version: seen, commits: [] }
        throw error
      }
    },
  }
}
