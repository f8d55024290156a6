/**
 * Commits of this process: the store, then memory. What other processes commit while they are under way is noted, as memory
 * must not take for the newest what somebody has changed since.
 */

import type { Leases } from '../coordination/leases.ts'
import { KIND_NAMES } from '../declarations/kinds.ts'
import type { AskedCommit, Redeclaration, SiteDeclarations } from '../declarations/site-declarations.ts'
import type { BesideChanges, Commit, CommitResult } from '../store/commit.ts'
import type { ForeignCommit } from '../store/foreign.ts'
import { isWithin, parentOf, pathsIn } from '../store/paths.ts'
import type { SiteStore } from '../store/store.ts'
import type { Coherence } from './coherence.ts'
import { type Changed, changedBy, confirming, doubtful, removedCollections, resultOf } from './commit-row.ts'
import { ReadingAgain } from './reading-again.ts'
import type { WrittenDocument } from './site.ts'

/** A commit of another process, as one site is told of it. */
export interface Foreign extends Omit<ForeignCommit, 'site'> {
  /** It stands for any number of commits, of which each may have raised counters. */
  isAnything?: true
}

/** Any number of commits of which nothing is known but where they have changed something, at most. */
export function anything(paths: readonly string[], version = 0): Foreign {
  return { version, paths, raised: KIND_NAMES, isAnything: true }
}

export type Committed = Extract<CommitResult, { ok: true }>

/** A commit that is about to be handed to the store. */
export interface Handed {
  commit: AskedCommit
  /** Documents that it puts, by path. */
  written: ReadonlyMap<string, WrittenDocument>
  redeclared: Redeclaration
}

/** The site that commits. */
interface Committing {
  store: Pick<SiteStore, 'name' | 'commit'>
  leases: Leases
  declared: Pick<SiteDeclarations, 'isOvertaken' | 'isBehind'>
  /** Bytes that its files may take together. */
  quota?: number | undefined
  /** Where others share its documents. */
  coherence?: Pick<Coherence, 'inStep'> | undefined
  /** Brings memory in step with a commit of this process. */
  take(handed: Handed, result: Committed): void
  /** The same with commits of others. */
  follow(commits: readonly Foreign[]): Promise<void>
}

/** A commit from the moment at which the store has it until memory knows what it has left: the store may show it before. */
interface UnderWay extends Readonly<Changed> {
  /** Newest version that memory knew when it was handed over: its own is newer. */
  since: number
  /** It may raise counters. */
  raises: boolean
  done: Promise<void>
}

/** A time in which several things are looked at one after another, so that they are said to have been so at once. */
export interface Moment {
  /** A commit that changes one of them was under way in it. */
  readonly isOver: boolean
  end(): void
}

type Settled = PromiseSettledResult<CommitResult>

export class CommitsUnderWay {
  readonly #site: Committing
  /** For each the commits of other processes that memory has followed meanwhile. */
  readonly #followed = new Set<Foreign[]>()
  /** Commits of other processes that memory has begun to follow. */
  readonly #following = new Set<readonly Foreign[]>()
  /**
   * Memory has forgotten the paths, which comes first, but not what they declared: rules may be stored there that do not count
   * yet, and no commit is taken until they do.
   */
  readonly #unread: ReadingAgain
  /** In the order in which they were handed over. */
  readonly #handed = new Set<UnderWay>()
  /** Of those that wait to be taken behind others of their row, what memory knows of commits that came after them. */
  readonly #waiting = new Set<Foreign[]>()
  readonly #moments = new Set<{ isMeant: (changed: readonly string[]) => boolean; isOver: boolean }>()
  /** Version of the newest commit of this process that memory knows. */
  #newestTaken = 0

  constructor(site: Committing) {
    this.#site = site
    this.#unread = new ReadingAgain(paths => site.follow([anything(paths)]))
  }

  /** To be told of every commit of another process that memory begins to follow. @returns to be called when it has */
  note(commits: readonly Foreign[]): () => void {
    // Where one of them changes what is declared, that is read again at the paths of all.
    const raised = commits.flatMap(commit => commit.raised)
    const noted = commits.map((commit): Foreign => ({ ...commit, raised }))
    for (const followed of this.#followed) followed.push(...noted)
    this.#endMoments(commits.flatMap(({ paths }) => paths))
    this.#following.add(noted)
    return () => this.#following.delete(noted)
  }

  /**
   * Hands commits to the store, in their order; memory follows when all have come to their end.
   *
   * @param before settles when memory has what they build on
   * @returns what became of each
   */
  async carryOut(row: readonly Handed[], before?: Promise<void>): Promise<Settled[]> {
    const { store, leases, coherence, quota } = this.#site
    const commits = row.map(({ redeclared }) => redeclared.commit)
    // A lone process has nobody to lose its turn to.
    if (coherence)
      for (const commit of commits) commit.confirm = confirming(leases, store.name, commit, quota !== undefined)
    const end = this.#begin(commits)
    try {
      return await this.#carryOut(row, commits, before)
    } finally {
      end()
    }
  }

  async #carryOut(row: readonly Handed[], commits: readonly AskedCommit[], before?: Promise<void>): Promise<Settled[]> {
    const { store } = this.#site
    const followed = [...this.#following].flat()
    this.#followed.add(followed)
    let results: Settled[]
    try {
      results = await Promise.allSettled(commits.map(commit => store.commit(commit)))
      if (before) this.#waiting.add(followed)
      await before
    } finally {
      this.#followed.delete(followed)
      this.#waiting.delete(followed)
    }
    const told = await this.#bringInStep(row, results, followed)
    await this.#lookAgain(doubtful(row, results))
    return told
  }

  /** @returns to be called when memory knows what became of them */
  #begin(commits: readonly (Pick<BesideChanges, 'changes'> & Pick<Commit, 'raises'>)[]): () => void {
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const handed = { since: this.#newestTaken, raises: raise(commits), ...changedBy(commits), done }
    this.#handed.add(handed)
    this.#endMoments(pathsOf(handed))
    return () => {
      this.#handed.delete(handed)
      resolve()
    }
  }

  /**
   * The commits that have left what somebody has just read from the store, while memory does not know them yet: who was shown
   * it would be shown something older elsewhere. Properties have no version: whether theirs were read, nobody knows.
   *
   * @returns for each a promise that is kept when memory knows it
   */
  ahead(path: string, version: number): Promise<void>[] {
    return this.#find(
      ({ since, filled, described }) =>
        (version > since && filled.some(put => isWithin(path, put))) || described.includes(path),
    )
  }

  /**
   * The same for members of a collection.
   *
   * @param versionOf version of a member as it was read; undefined where nothing was
   * @param isShown whether a member would have been read if it were there
   */
  aheadIn(
    collection: string,
    versionOf: (member: string) => number | undefined,
    isShown: (member: string) => boolean,
  ): Promise<void>[] {
    const isMember = (path: string) => path !== collection && parentOf(path) === collection && isShown(path)
    const isNewer = (path: string, since: number) => (versionOf(path) ?? since) > since
    // What is put somewhere below makes the collections that are missing.
    const isBelow = (path: string) => path.startsWith(collection) && path !== collection && isShown(path)
    return this.#find(
      ({ since, filled, emptied, described }) =>
        filled.some(path => isBelow(path) && isNewer(memberTo(collection, path), since)) ||
        described.some(isMember) ||
        emptied.some(path => isMember(path) && versionOf(path) === undefined),
    )
  }

  /**
   * All that change something at a path or, with a slash at its end, below it, while memory does not know them yet.
   *
   * @param isShown whether a change of a path counts
   */
  at(path: string, isShown: (changed: string) => boolean = () => true): Promise<void>[] {
    return this.#find(commit => concerns(pathsOf(commit).filter(isShown), path))
  }

  /**
   * Begins to look at paths; commits of other processes are noted when memory follows them.
   *
   * @param isShown whether a change of a path counts
   */
  moment(paths: readonly string[], isShown: (changed: string) => boolean = () => true): Moment {
    const moment = {
      isMeant: (changed: readonly string[]) => paths.some(path => concerns(changed.filter(isShown), path)),
      isOver: paths.some(path => this.at(path, isShown).length > 0),
      end: () => this.#moments.delete(moment),
    }
    if (!moment.isOver) this.#moments.add(moment)
    return moment
  }

  #endMoments(changed: readonly string[]): void {
    for (const moment of this.#moments) moment.isOver ||= moment.isMeant(changed)
  }

  #find(isMeant: (commit: UnderWay) => boolean): Promise<void>[] {
    return [...this.#handed].filter(isMeant).map(({ done }) => done)
  }

  /** @returns what the writers are to be told */
  async #bringInStep(
    row: readonly Handed[],
    results: readonly Settled[],
    followed: readonly Foreign[],
  ): Promise<Settled[]> {
    const { coherence, declared, take, follow } = this.#site
    const commits = row.map(({ redeclared }) => redeclared.commit)
    const stored = row.flatMap((handed, i) => {
      const result = resultOf(results[i])
      return result?.ok ? [{ handed, result }] : []
    })
    const isOvertaken = stored.some(
      ({ result }) => mayBeKnown(followed, result) || (coherence && declared.isOvertaken(result.counters)),
    )
    if (!isOvertaken) for (const { handed, result } of stored) take(handed, result)
    for (const { handed, result } of stored) this.#overtake(handed, result)
    for (const { result } of stored) this.#newestTaken = Math.max(this.#newestTaken, result.version)
    const isBehind = (settled: Settled) => isOvertaken || resultOf(settled)?.ok === false
    if (!isOvertaken && !(coherence && results.some(isBehind))) return [...results]
    try {
      // What stands in the way may be the work of another process, which the next attempt has to know.
      await coherence?.inStep()
      if (isOvertaken) await follow(stored.map(asForeign))
      else if (results.some(settled => declared.isBehind(resultOf(settled))) && !this.#othersRaise(commits))
        await follow([anything(['/'])])
      return [...results]
    } catch (reason) {
      return results.map(settled => (isBehind(settled) ? { status: 'rejected', reason } : settled))
    }
  }

  /** Whether other commits are under way that raise counters: memory will know them. */
  #othersRaise(own: readonly Pick<Commit, 'raises'>[]): boolean {
    return [...this.#handed].filter(({ raises }) => raises).length > (raise(own) ? 1 : 0)
  }

  /** Files are written while their collection goes: what was stored before it went must not come to memory behind it. */
  #overtake({ commit }: Handed, { version }: Committed): void {
    if (this.#waiting.size === 0) return
    const paths = removedCollections(commit)
    if (paths.length > 0) for (const followed of this.#waiting) followed.push({ version, paths, raised: [] })
  }

  /** Has memory take what is stored after commits of which nobody knows. Other processes are told of them in any case. */
  async #lookAgain(commits: readonly AskedCommit[]): Promise<void> {
    const paths = commits.flatMap(({ changes }) => changes.flatMap(pathsIn))
    if (paths.length > 0 && !this.#site.coherence) await this.#unread.now(paths)
  }

  /** Has a commit of another part of the store be carried out that makes changes here. */
  async throughOthers<T>(
    { changes, absent }: Pick<BesideChanges, 'changes' | 'absent'>,
    commit: (part: BesideChanges) => Promise<T>,
  ): Promise<T> {
    const end = this.#begin([{ changes }])
    try {
      return await commit({ site: this.#site.store.name, changes, absent })
    } finally {
      // What is copied stays as it is.
      const paths = changes.flatMap(each => (each.op === 'copy' ? [each.to] : pathsIn(each)))
      await this.#site.follow([{ version: 0, paths, raised: [] }]).catch(() => this.#unread.now(paths))
      end()
    }
  }
}

/** The member of a collection that a path below it is, or is in. */
function memberTo(collection: string, path: string): string {
  const end = path.indexOf('/', collection.length)
  return end === -1 ? path : path.slice(0, end + 1)
}

function raise(commits: readonly Pick<Commit, 'raises'>[]): boolean {
  return commits.some(({ raises }) => raises !== undefined)
}

function pathsOf({ filled, emptied, described }: Readonly<Changed>): string[] {
  return [...filled, ...emptied, ...described]
}

/** Whether something is changed at a path, above it or, with a slash at its end, below it. */
function concerns(changed: readonly string[], path: string): boolean {
  return changed.some(each => isWithin(each, path) || isWithin(path, each))
}

/** A commit of this process as one of another would be followed. */
function asForeign({ handed, result: { version, resources } }: { handed: Handed; result: Committed }): Foreign {
  return { version, paths: [...resources.keys()], raised: handed.redeclared.commit.raises ?? [] }
}

/**
 * Whether commits of others have changed what a commit has, after it; or memory has read again what is declared there,
 * perhaps as the commit has left it: what is moved would be moved twice.
 */
function mayBeKnown(followed: readonly Foreign[], { version, resources }: Committed): boolean {
  if (followed.length === 0) return false
  const paths = [...resources.keys()]
  const collections = paths.filter(path => path.endsWith('/'))
  const isConcerned = (path: string) =>
    resources.has(path) ||
    collections.some(collection => path.startsWith(collection)) ||
    (path.endsWith('/') && paths.some(own => own.startsWith(path)))
  return followed.some(
    commit => (commit.version > version || commit.raised.length > 0) && commit.paths.some(isConcerned),
  )
}
