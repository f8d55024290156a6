import type { PassedEdit } from './commit.ts'
import type { Resource } from './resource.ts'

/** A commit made by another process. */
export interface ForeignCommit {
  version: number
  /** Name of the site. */
  site: string
  /** What its changes and events named; a path ending in `/` stands for everything below it, too. */
  paths: readonly string[]
  /** Counters that it raised. */
  raised: readonly string[]
  /** As the commit had it. */
  edit?: ForeignEdit
  /** Documents of the site were written by another derivation: `allDerived(OUTDATED)` names them. */
  outdated?: boolean
}

/** An edit that another process has made, as plain data. */
export interface ForeignEdit extends PassedEdit {
  /** State of its document after the commit. Entries of an earlier release have none. */
  readonly left?: Resource | undefined
}

/** What other processes do to a store that several have open. */
export interface ForeignCommits {
  /** Version up to which `read` has told of everything; commits of this process need no telling. */
  version(): number
  /** Version of the newest commit that is known here, whoever made it. */
  newest(): number
  /**
   * Whether anybody has committed since the last `read`, as of the call: every request asks. A store that knows without
   * asking others answers at once, within a microsecond or two; one that has to ask may answer several calls together.
   *
   * @throws whatever keeps it from telling, at once or later
   */
  waiting(): boolean | Promise<boolean>
  /** It has to ask, mostly; where nobody else commits there is no need. */
  readonly asks?: boolean
  /**
   * Commits of others since the last call, in their order; undefined when they can no longer be told one by one:
   * anything may have changed. `version` is the newest that this covers: all that was acknowledged before `waiting` was
   * asked last, or later. What it fails to tell is told by the next call. `isSetBack` where commits are gone that were known.
   */
  read(): Promise<{ version: number; commits: ForeignCommit[] | undefined; isSetBack?: true }>
}
