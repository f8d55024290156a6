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
  edit?: string
  /** Documents of the site were written by another derivation: `allDerived(OUTDATED)` names them. */
  outdated?: boolean
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
   */
  waiting(): boolean | Promise<boolean>
  /**
   * Commits of others since the last call, in their order; undefined when they can no longer be told one by one:
   * anything may have changed. `version` is the newest that this covers: all that was acknowledged before `waiting` was
   * asked last, or later.
   */
  read(): Promise<{ version: number; commits: ForeignCommit[] | undefined }>
}
