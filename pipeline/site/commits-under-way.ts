/** Commits of this process that are under way, and what other processes commit meanwhile. */

import type { CommitResult } from '../store/commit.ts'
import type { ForeignCommit } from '../store/foreign.ts'

/** A commit of another process, as one site is told of it. */
export type Foreign = Omit<ForeignCommit, 'site'>

export type Committed = Extract<CommitResult, { ok: true }>

export class CommitsUnderWay {
  /** For each the commits of other processes that memory has followed meanwhile. */
  readonly #followed = new Set<Foreign[]>()

  /** To be told of every commit of another process that memory follows. */
  note(commits: readonly Foreign[]): void {
    for (const followed of this.#followed) followed.push(...commits)
  }

  /**
   * Waits for a commit.
   *
   * @returns its result, and whether newer commits of other processes have changed what it has, which memory must not take
   *   for its work
   */
  async during(commit: () => Promise<CommitResult>): Promise<{ result: CommitResult; isOvertaken: boolean }> {
    const followed: Foreign[] = []
    this.#followed.add(followed)
    try {
      const result = await commit()
      return { result, isOvertaken: result.ok && isOvertaken(result, followed) }
    } finally {
      this.#followed.delete(followed)
    }
  }
}

function isOvertaken({ version, resources }: Committed, followed: readonly Foreign[]): boolean {
  if (followed.length === 0) return false
  const paths = [...resources.keys()]
  const collections = paths.filter(path => path.endsWith('/'))
  const isConcerned = (path: string) =>
    resources.has(path) ||
    collections.some(collection => path.startsWith(collection)) ||
    (path.endsWith('/') && paths.some(own => own.startsWith(path)))
  return followed.some(commit => commit.version > version && commit.paths.some(isConcerned))
}
