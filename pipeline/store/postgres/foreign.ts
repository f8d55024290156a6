/**
 * What other processes commit: the log that is written with every commit, and one number that says whether there is news.
 * All requests of a moment ask for that number together.
 */

import type { ForeignCommit, ForeignCommits } from '../foreign.ts'
import { KEPT_LOG } from './housekeeping/housekeeping.ts'
import type { Reads } from './read/pool.ts'
import { unpack } from './text.ts'

interface Entry {
  version: number
  origin: string
  site: string
  paths: string
  raised: string
  edit: string | null
}

function commitOf({ version, site, paths, raised, edit }: Entry): ForeignCommit {
  const commit = { version, site, paths: JSON.parse(paths) as string[], raised: JSON.parse(raised) as string[] }
  return edit === null ? commit : { ...commit, edit: unpack(edit) }
}

/** Answers all who ask while a question is under way with the next one: it is put after they asked. */
export function sharedQuestion<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<unknown> | undefined
  let next: Promise<Answer> | undefined
  function begin(): Promise<Answer> {
    next = undefined
    const asked = ask()
    running = asked.catch(() => undefined)
    return asked
  }
  return () => {
    if (running === undefined) running = Promise.resolve()
    next ??= running.then(begin)
    return next
  }
}

/**
 * @param newest number of the last commit of anybody
 * @param origin of this process: its own commits are no news
 */
export function readForeign(reads: Reads, newest: () => Promise<number>, origin: string, from: number): ForeignCommits {
  let seen = from
  return {
    waiting: async () => (await newest()) > seen,
    async read() {
      const after = seen
      const to = await newest()
      const entries =
        to - after > KEPT_LOG
          ? []
          : await reads.rows<Entry>(
              `SELECT version, origin, site, paths, raised, edit FROM commit_log
               WHERE version > $1 AND version <= $2 ORDER BY version`,
              after,
              to,
            )
      seen = to
      // Commits have numbers without gaps: what has no entry was trimmed.
      if (entries.length !== to - after) return { version: to, commits: undefined }
      return { version: to, commits: entries.filter(entry => entry.origin !== origin).map(commitOf) }
    },
  }
}
