/**
 * A site as the process knows it: its settings, its rules as they stand, and the resources it holds in memory.
 * Every commit of the site goes through here, so that memory never falls behind the store.
 */

import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { AccessRules } from '../access/access-rules.ts'
import type { RuleScope } from '../access/matching.ts'
import type { Publication } from '../coordination/fan-out.ts'
import type { Leases } from '../coordination/leases.ts'
import { slipsIn } from '../declarations/derive.ts'
import type { Derivation } from '../declarations/kind.ts'
import type { KindName, Snapshots } from '../declarations/kinds.ts'
import type { Counts } from '../declarations/limited.ts'
import { type AskedCommit, type Declaration, SiteDeclarations } from '../declarations/site-declarations.ts'
import { documentPart } from '../http/tags.ts'
import { type CodeHosts, noCode } from '../model/code.ts'
import type { Registry } from '../model/registry.ts'
import type { CommitResult } from '../store/commit.ts'
import type { SiteStore } from '../store/store.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import type { Needs } from '../tree/selector/needs.ts'
import type { Extensions } from '../tree/selector/selector.ts'
import type { Coherence } from './coherence.ts'
import { type Beside, type ChangedPaths, type InRow, outcomeOf, reserveLargest, toldTrees } from './commit-row.ts'
import { anything, CommitsUnderWay, type Committed, type Foreign, type Handed } from './commits-under-way.ts'
import { DocumentIndex } from './document-index.ts'
import { readNotice } from './followed-edits.ts'
import { Resources, type Version } from './resources.ts'
import type { Audience, PipelineSettings, SiteParts, Watcher } from './site-parts.ts'
import type { StoredFile } from './stored-file.ts'
import { type Usage, usageOf } from './usage.ts'

export type { Audience, PipelineSettings } from './site-parts.ts'

/** Bytes that a document may have: it is held in memory, and part of what a body may have. */
export function largestDocument({ maxBody, maxDocument }: Pick<PipelineSettings, 'maxBody' | 'maxDocument'>): number {
  return Math.min(maxBody, maxDocument)
}

/** A document that a commit puts: what memory takes over beside what the store tells. */
export interface WrittenDocument extends Version, Omit<Declaration, 'profile'> {
  path: string
}

export class Site {
  readonly settings: PipelineSettings
  readonly store: SiteStore
  readonly leases: Leases
  /** Runs the code of schemas, on the allowance of a request. */
  readonly code: CodeHosts
  /** Room on the site; undefined where nothing limits it. */
  readonly usage: Usage | undefined
  /** What lies over files that a commit puts, and goes with it and with what is given to go with it. */
  overtaken: ((commit: Pick<AskedCommit, 'changes'>, given?: Beside) => Beside | undefined) | undefined
  readonly #tagKey: KeyObject
  readonly #resources: Resources
  readonly #declared: SiteDeclarations
  /** Made by `documentsWith` when somebody asks for the first time; what nobody has asked about follows no commits. */
  index: DocumentIndex | undefined
  readonly #watchers = new Set<Watcher>()
  readonly #foreignWatchers = new Set<(paths: ChangedPaths) => Promise<void>>()
  readonly #audience: Audience | undefined
  readonly #coherence: Pick<Coherence, 'inStep'> | undefined
  readonly #underWay: CommitsUnderWay

  private constructor(parts: Omit<SiteParts, 'basis'> & { declared: SiteDeclarations }) {
    this.#audience = parts.audience
    this.#coherence = parts.coherence
    this.settings = parts.settings
    this.store = parts.store
    this.leases = parts.leases
    this.code = parts.code ?? (() => noCode)
    // Every read of an element makes a tag: a key that is bytes costs several times as much each time.
    this.#tagKey = createSecretKey(parts.tagKey ?? randomBytes(32))
    this.#resources = new Resources(parts, (...read) => this.#underWay.ahead(...read))
    this.#declared = parts.declared
    this.usage = usageOf(parts)
    this.#underWay = new CommitsUnderWay({
      ...parts,
      take: (handed, result) => this.#take(handed, result),
      follow: commits => this.follow(commits),
    })
    if (this.usage) this.#watchers.add(paths => this.usage?.changed(paths))
  }

  /** Opens a site: compiles its rules from what was derived when its documents were committed. */
  static async open(parts: SiteParts): Promise<Site> {
    const site = new Site({ ...parts, declared: await SiteDeclarations.read(parts) })
    if (site.awaitsFiles) site.watch(() => site.#declared.filled())
    return site
  }

  /** The declarations of one kind as they stand; another object whenever one changes. A request takes each at its start. */
  declarations<Name extends KindName>(name: Name): Snapshots[Name] {
    return this.#declared.snapshot(name)
  }

  /** Value of the store's counter of the declarations of a kind, which a commit that was decided by them requires. */
  declarationsVersion(name: KindName): number {
    return this.#declared.version(name)
  }

  /** The rules as they stand. The object changes whenever a rule does; a request takes it once at its start. */
  get rules(): AccessRules {
    return this.#declared.snapshot('access')
  }

  /** Value of the store's counter that belongs to `rules`. */
  get accessVersion(): number {
    return this.#declared.version('access')
  }

  /** Schemas, enumerations and shapes as they stand; another object whenever one changes. */
  get model(): Registry {
    return this.#declared.snapshot('model')
  }

  /** Value of the store's counter that belongs to `model`. */
  get modelVersion(): number {
    return this.#declared.version('model')
  }

  /** Whether what a document at a path declares counts (SEC-10). */
  get counts(): Counts {
    return this.#declared.counts
  }

  /** Whether a document may declare something, or was meant to; what memory has of it is asked alone. */
  mayDeclare(path: string): boolean {
    const file = this.inMemory(path)
    if (!file?.isDocument) return !file
    return file.profile?.types.length !== 0 || slipsIn(file.profile) !== undefined
  }

  /** Whether it had no files when it was opened, and has got none. */
  get awaitsFiles(): boolean {
    return this.#declared.awaitsFiles
  }

  /** Documents that declare something where declarations do not count. */
  leftOut(): Set<string> {
    return this.#declared.leftOut()
  }

  /** What selectors of this site may use beside CSS; `:isa()` goes by the schemas as they stand. */
  get selectors(): Extensions {
    return this.#declared.selectors
  }

  /** By what documents are read that are to be committed. */
  get derivation(): Derivation {
    return this.#declared.derivation
  }

  /** Another number whenever something of the site has changed. */
  get changes(): number {
    return this.#resources.changes
  }

  /** Whether other processes hold its documents as well. */
  get isShared(): boolean {
    return this.#coherence !== undefined
  }

  /** Has memory know all that was acknowledged before the call, by whatever process. */
  inStep(): Promise<void> | undefined {
    return this.#coherence?.inStep()
  }

  /** Has memory know everything up to the newest document that was loaded. */
  followLoaded(): Promise<unknown> | undefined {
    const foreign = this.#coherence?.inStep(this.#resources.newestLoaded)
    const own = this.#resources.ahead
    return own.size === 0 ? foreign : Promise.all([foreign, ...own])
  }

  /** Commits of this process that may be seen in the store before memory knows them. */
  get underWay(): Pick<CommitsUnderWay, 'ahead' | 'aheadIn' | 'at' | 'moment'> {
    return this.#underWay
  }

  /**
   * The document part of fragment tags (HTTP-32).
   *
   * @param document a stored document, or one that is about to be
   * @param projected what else went into the page that is served
   */
  documentPart(document: { path: string; digest: string }, projected?: readonly string[]): string {
    return documentPart(this.#tagKey, document, projected)
  }

  /** What is held in memory for a path; undefined says nothing about the store. */
  inMemory(path: string): StoredFile | undefined {
    return this.#resources.inMemory(path)
  }

  /** Whether a file of this site is what is held in memory for its path. */
  isInMemory(file: StoredFile): boolean {
    return this.#resources.isInMemory(file)
  }

  /**
   * The newest version of a file.
   *
   * @param path canonical path
   * @returns undefined when nothing, or a collection, is stored there
   */
  find(path: string): Promise<StoredFile | undefined> {
    return this.#resources.find(path)
  }

  /**
   * `find` for those who need the tree of a document: large ones are parsed in turns with other work.
   *
   * @throws Fault 422 for a document that cannot be parsed
   */
  findParsed(path: string): Promise<StoredFile | undefined> {
    return this.#resources.findParsed(path)
  }

  /** `tree` without holding up others where the document is large; for those who keep its path to themselves. */
  async parsed(file: StoredFile): Promise<TreeDocument> {
    if (!file.hasTree) await file.parse()
    return this.#resources.tree(file)
  }

  /**
   * Documents in which a selector may find something, ascending by path; `neededTokens` says what it needs. At once where
   * memory is up to date, and never by reading documents.
   *
   * @param below collection that they lie in
   */
  documentsWith(needs: Needs, below?: string): readonly string[] | Promise<readonly string[]> {
    if (!this.index) {
      const index = new DocumentIndex(this.store, type => this.model.subtypes(type))
      this.#watchers.add((paths, own) => index.changed(paths, own))
      this.index = index
    }
    return this.index.find(needs, below)
  }

  /** The tree of a document in memory; counts as use of the tree. */
  tree(file: StoredFile): TreeDocument {
    return this.#resources.tree(file)
  }

  /** Selectors with lookups of the rules, as they read for those who watch a path now (EVT-67). */
  onlookers(path: string): Iterable<RuleScope> {
    return this.#audience?.onlookers(this.store.name, path) ?? []
  }

  /**
   * Commits, brings memory in step before anybody else runs, and publishes the events.
   *
   * @param written what the commit puts, for every document among its changes
   * @param given changes of another part of the store
   * @throws Fault 507 where the quota has no room for it
   */
  commit(commit: AskedCommit, written: readonly WrittenDocument[] = [], given?: Beside): Promise<CommitResult> {
    const beside = this.overtaken?.(commit, given) ?? given
    if (!beside) return this.#commit(commit, written)
    return beside.site.#underWay.throughOthers(beside, part => this.#commit({ ...commit, beside: part }, written))
  }

  async #commit(commit: AskedCommit, written: readonly WrittenDocument[]): Promise<CommitResult> {
    const release = this.usage && (await this.usage.reserve(commit.changes))
    let publication: Publication | undefined
    let settled: PromiseSettledResult<CommitResult> | undefined
    try {
      publication = this.#audience?.fanOut.begin(this.store.name, commit.events ?? [], toldTrees(commit))
      const brought = new Map(written.map(each => [each.path, each]))
      const redeclared = this.#keepsDeclarations(commit, brought)
        ? this.#declared.keeping(commit)
        : await this.#declared.after(commit, brought, path => this.#parsedVersion(path))
      ;[settled] = await this.#underWay.carryOut([{ commit, written: brought, redeclared }])
    } finally {
      release?.()
      await publication?.finish(outcomeOf(settled))
    }
    if (settled?.status === 'fulfilled') return settled.value
    throw settled?.reason
  }

  /** Brings memory in step with a commit of this process. */
  #take({ commit, written, redeclared }: Handed, result: Committed): void {
    this.#resources.take(commit, result.resources, written)
    redeclared.take(result.counters)
    const paths = [...result.resources.keys()]
    for (const watcher of this.#watchers) watcher(paths, commit)
    this.index?.take(redeclared.commit, result.resources)
  }

  /**
   * Carries out commits to one file that build on each other, in their order; whichever of them fails, the others are
   * carried out if what they expect holds. Memory follows when all have come to their end.
   *
   * @param row each puts the file, and changes no declarations
   * @param before settles when memory has what earlier commits have left that these build on
   * @returns what became of each; undefined where none was tried, because there may be no room for all of them, or more goes along
   */
  async commitRow(
    row: readonly InRow[],
    before?: Promise<void>,
  ): Promise<PromiseSettledResult<CommitResult>[] | undefined> {
    if (row.some(({ commit }) => this.overtaken?.(commit))) return undefined
    const release = this.usage && (await reserveLargest(this.usage, row))
    if (this.usage && !release) return undefined
    const publications: (Publication | undefined)[] = []
    let results: PromiseSettledResult<CommitResult>[] = []
    try {
      const handed = row.map(({ commit, written }): Handed => {
        const brought = new Map(written && [[written.path, written]])
        return { commit, written: brought, redeclared: this.#declared.keeping(commit) }
      })
      for (const { commit } of row)
        publications.push(this.#audience?.fanOut.begin(this.store.name, commit.events ?? []))
      results = await this.#underWay.carryOut(handed, before)
    } finally {
      release?.()
      await Promise.all(publications.map((publication, i) => publication?.finish(outcomeOf(results[i]))))
    }
    return results
  }

  /** Whether a commit leaves all declarations as they are. */
  keepsDeclarations(commit: AskedCommit, written: WrittenDocument): boolean {
    const brought = new Map([[written.path, written]])
    return this.#keepsDeclarations(commit, brought) || this.#declared.isKeptBy(commit, brought)
  }

  /**
   * Whether a commit does nothing but put blobs, or documents without items, where nothing is or what has none: most do, and
   * need no look at what is declared.
   */
  #keepsDeclarations({ changes }: AskedCommit, written: Handed['written']): boolean {
    for (const change of changes) {
      if (change.op !== 'put') return false
      const { path, expect } = change
      if (change.kind === 'document' && written.get(path)?.profile.types.length !== 0) return false
      if (expect !== 'absent' && (typeof expect !== 'number' || this.#resources.hasItems(path, expect) !== false))
        return false
    }
    return true
  }

  async #parsedVersion(path: string): Promise<{ tree: TreeDocument; version: number } | undefined> {
    const file = await this.findParsed(path)
    return file?.isDocument ? { tree: this.tree(file), version: file.resource.version } : undefined
  }

  /** Brings memory in step with commits of other processes. */
  async follow(commits: readonly Foreign[]): Promise<void> {
    const end = this.#underWay.note(commits)
    try {
      await this.#follow(commits)
    } finally {
      end()
    }
  }

  async #follow(commits: readonly Foreign[]): Promise<void> {
    this.#resources.change()
    for (const { version, paths, edit } of commits)
      for (const path of paths)
        if (path === edit?.path) this.#resources.follow(readNotice(edit), version)
        else this.#resources.forget(path)
    const paths = new Set(commits.flatMap(commit => commit.paths))
    // Before anybody else runs: what takes its time below must not find things as they were and take them for new.
    for (const watcher of this.#watchers) watcher(paths)
    const raised = commits.some(({ isAnything }) => isAnything) ? undefined : commits.flatMap(commit => commit.raised)
    const changes = () => this.#resources.changes
    const wasAhead = raised?.length !== 0 && (await this.#declared.readAgain(paths, changes, raised))
    const derived = await this.#declared.deriveOutdated(commits, changes)
    // What was found out about them meanwhile is still what others had stored.
    for (const path of derived) this.#resources.forget(path)
    if (derived.size > 0) for (const watcher of this.#watchers) watcher(derived)
    await Promise.all([...this.#foreignWatchers].map(watcher => watcher(paths)))
    if (wasAhead) await this.startOver(commits.at(-1)?.version ?? 0)
  }

  /** The same, after commits up to a version of which nothing else is known. */
  startOver(version: number): Promise<void> {
    return this.follow([{ ...anything(['/'], version), outdated: true }])
  }

  /**
   * Has a function told of the paths that each commit named, before the new state can be read; `/` at an end: all below. A
   * commit of this process, which is surely stored, is given as well.
   */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  /** The same for commits of other processes alone; whoever needs memory to be in step waits for the function. */
  watchForeign(watcher: (paths: ChangedPaths) => Promise<void>): void {
    this.#foreignWatchers.add(watcher)
  }
}
