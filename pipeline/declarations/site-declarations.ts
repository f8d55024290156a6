/**
 * What the documents of a site declare, as it stands: for every kind the snapshot of the site, with the value of the
 * store's counter that it belongs to.
 */

import type { Vocabulary } from '../model/vocabulary.ts'
import type { Commit, CommitResult } from '../store/commit.ts'
import type { SiteStore } from '../store/store.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { additions, type Extensions } from '../tree/selector/selector.ts'
import { atOnce, inTurns } from '../tree/steps.ts'
import {
  type Brought,
  changesDeclarations,
  declaringAt,
  type Exchange,
  exchangeBy,
  UNKNOWN_LENGTH,
} from './after-commit.ts'
import { type Profile, slipsIn } from './derive.ts'
import type { Derivation, Snapshot } from './kind.ts'
import { type Declares, emptySnapshots, KIND_NAMES, KINDS, type KindName, type Snapshots, subtypesBy } from './kinds.ts'
import { type Counts, countsIn, EVERYWHERE, effective, LimitedSnapshot } from './limited.ts'
import { toldSlips } from './misspelt.ts'
import {
  type Basis,
  deriveOutdated,
  outdated,
  rederiveAll,
  rederiveKind,
  rederiveRenamed,
  UnreadableDeclarations,
} from './rederive.ts'
import { type Retyped, retyped, type ShowTree } from './retype.ts'

/** Findings that one commit is reported for, of each kind. */
const TOLD = 100

export interface DeclarationSettings extends Vocabulary {
  /** Patterns of the paths of documents that may declare; every document when missing. */
  declarationsIn?: readonly string[] | undefined
}

/** What a new version of a document declares. */
export interface Declaration {
  declares: Declares
  /** What of it says nothing is known by this one. */
  profile?: Profile
  /** Shows the tree of the new version, which may have to be read by other types than those it was read with. */
  show?: ShowTree
}

type Counters = Readonly<Record<string, number>>
type All = Record<KindName, Snapshot<unknown>>

/** What all requests ask of the declarations of a site. */
interface Standing {
  snapshots: Snapshots
  derivation: Derivation
}

/** A commit as it is asked for: which counters it raises is for what it declares to say. */
export type AskedCommit = Omit<Commit, 'raises'>

/** What a commit makes of the declarations of a site. */
export interface Redeclaration {
  /** The commit, with what it changes in the derived data of other documents, and the counters that it raises. */
  commit: Commit
  /** To be called when the commit was carried out, before anybody else runs. */
  take(counters: Counters): void
}

export class SiteDeclarations {
  readonly #store: SiteStore
  readonly #vocabulary: Vocabulary
  readonly #report: (message: string, details: object) => void
  /** Replaced kind by kind by every commit that changes declarations. */
  readonly #snapshots: All
  readonly #versions: Record<KindName, number>
  /** Remembers by what the data of a site was derived that had no files when it was opened. */
  #writeBasis: (() => Promise<void>) | undefined
  /** What follows from the snapshots, worked out whenever one is replaced: every request asks for it. */
  #standing: Standing
  /** What selectors of the site may use beside CSS. Compiled ones outlive changes of the model, and a site that is closed. */
  readonly selectors: Extensions

  /** In which documents declarations count (SEC-10). */
  readonly counts: Counts

  private constructor(parts: {
    store: SiteStore
    settings: DeclarationSettings
    report: (message: string, details: object) => void
  }) {
    this.#store = parts.store
    this.#vocabulary = parts.settings
    this.#report = parts.report
    const { declarationsIn } = parts.settings
    this.counts = declarationsIn ? countsIn(declarationsIn) : EVERYWHERE
    const own = new WeakRef(this)
    const model = () => own.deref()?.snapshot('model')
    this.selectors = additions((type, ancestor) => !!model()?.hasSchemas && !!model()?.isa(type, ancestor))
    this.#snapshots = emptySnapshots(this.counts, parts.settings, this.selectors)
    this.#standing = this.#stand()
    this.#versions = Object.fromEntries(KIND_NAMES.map(name => [name, 0])) as Record<KindName, number>
  }

  /**
   * Puts together what was derived when the documents were committed, and derives what is missing.
   *
   * @param report takes findings about declarations (RULE-13, MOD-8) and repairs, for the log
   */
  static async read(parts: {
    store: SiteStore
    settings: DeclarationSettings
    basis: Basis
    report: (message: string, details: object) => void
  }): Promise<SiteDeclarations> {
    const { store, settings, basis, report } = parts
    const { all, after, before, kinds, basis: reached } = outdated(await basis.read(), settings)
    if (all) {
      const mark = (path: string) => basis.write(JSON.stringify({ after: path, basis: reached }))
      await rederiveAll(store, settings, report, { after, mark })
    } else if (before) await rederiveRenamed(store, before, settings, report)
    const declarations = new SiteDeclarations(parts)
    declarations.#reach(await store.counters())
    for (const name of KIND_NAMES) {
      if (kinds.has(name)) {
        report('Reading documents again for a new kind of declarations', { kind: name })
        await rederiveKind(store, name, declarations.derivation, 'all', report)
      } else if (all || before) await rederiveKind(store, name, declarations.derivation, 'subtypes', report)
      await declarations.#load(name)
    }
    await declarations.deriveOutdated([{ outdated: true }], () => undefined)
    if (reached === undefined) return declarations
    const write = () => basis.write(reached)
    // A site without files leaves nothing behind: whoever asks may have made up its name.
    if (await holdsFiles(store)) await write()
    else declarations.#writeBasis = write
    return declarations
  }

  async #load(name: KindName): Promise<void> {
    const snapshots: All = this.#snapshots
    let snapshot = snapshots[name]
    for await (const { path, value } of this.#store.allDerived(name))
      try {
        snapshot = await inTurns(snapshot.exchanging(path, parsed(value)), value.length)
      } catch (error) {
        // It is no JSON, or nothing that a document can declare.
        if (error instanceof SyntaxError || error instanceof TypeError) throw new UnreadableDeclarations(path, error)
        throw error
      }
    snapshots[name] = snapshot
    this.#standing = this.#stand()
  }

  #stand(): Standing {
    const counting = Object.fromEntries(KIND_NAMES.map(name => [name, effective(this.#snapshots[name])]))
    const snapshots = counting as unknown as Snapshots
    const { ns, schemaHost } = this.#vocabulary
    return { snapshots, derivation: { ns, schemaHost, subtypes: subtypesBy(snapshots.model) } }
  }

  /** Whether it is to be told when the site has its first files. */
  get awaitsFiles(): boolean {
    return this.#writeBasis !== undefined
  }

  /** To be called once the site has files: what was derived of them is not derived again at the next start. */
  filled(): void {
    const write = this.#writeBasis
    this.#writeBasis = undefined
    // Otherwise they are read once more.
    void write?.().catch(() => undefined)
  }

  /** The declarations of one kind; another object whenever one of them changes. */
  snapshot<Name extends KindName>(name: Name): Snapshots[Name] {
    return this.#standing.snapshots[name]
  }

  /** Documents whose declarations do not count, because `declarationsIn` leaves them out. */
  leftOut(): Set<string> {
    const paths = new Set<string>()
    for (const snapshot of Object.values(this.#snapshots))
      if (snapshot instanceof LimitedSnapshot) for (const path of snapshot.leftOut()) paths.add(path)
    return paths
  }

  /** Value of the store's counter that belongs to a snapshot. */
  version(name: KindName): number {
    return this.#versions[name]
  }

  /** By what documents are read that are to be committed. */
  get derivation(): Derivation {
    return this.#standing.derivation
  }

  #count(counters: Counters): void {
    for (const name of KIND_NAMES) this.#versions[name] = counters[name] ?? this.#versions[name]
  }

  /**
   * Works out what a commit makes of declarations. Nothing changes before it is taken.
   *
   * @param brought what the documents declare that the commit puts, by path
   * @param read finds a stored document with its version
   */
  async after(
    commit: AskedCommit,
    brought: ReadonlyMap<string, Declaration>,
    read: (path: string) => Promise<{ tree: TreeDocument; version: number } | undefined>,
  ): Promise<Redeclaration> {
    // What is replaced, goes or moves takes with it what it declares, whoever put that there a moment ago: whether others
    // have to be told shows only to a memory that knows all of it.
    const requires = { ...this.#versions, ...commit.requires }
    const before: All = { ...this.#snapshots }
    const { derivation } = this
    const brings =
      (name: KindName, retypedNow?: Retyped): Brought =>
      path => {
        const reread = retypedNow?.kinds.includes(name) ? retypedNow.declares.get(path) : undefined
        const known = reread ?? brought.get(path)?.declares
        return known && { raw: known[name] }
      }
    const isChanged = (name: KindName) =>
      changesDeclarations(before[name], commit, brings(name), (a, b) => KINDS[name].same(a, b))
    const changed = new Set(KIND_NAMES.filter(isChanged))
    const exchanges: Exchange[] = []
    let types: Retyped | undefined
    if (changed.has('model')) {
      const model = await exchangeBy('model', before.model, commit, brings('model'))
      exchanges.push(model)
      const registry = effective(model.after) as Snapshots['model']
      await inTurns(registry.inheriting(), UNKNOWN_LENGTH)
      types = await retyped(commit, {
        store: this.#store,
        before: derivation,
        after: { ...this.#vocabulary, subtypes: subtypesBy(registry) },
        declared: (name, path) => before[name].document(path),
        brought: path => brought.get(path)?.show,
        read,
      })
      for (const name of types?.kinds ?? []) changed.add(name)
    }
    const raises = [...changed]
    const done = {
      ...commit,
      ...(types && { changes: types.changes, guards: [...(commit.guards ?? []), types.guard] }),
      ...(raises.length > 0 && { raises }),
      ...(mayRedeclare(commit) && { requires }),
    }
    for (const name of changed)
      if (name !== 'model') exchanges.push(await exchangeBy(name, before[name], done, brings(name, types)))
    return {
      commit: done,
      take: counters => {
        const now: All = this.#snapshots
        for (const { name, before, after, again } of exchanges) {
          // Another commit may have been taken since.
          now[name] = now[name] === before ? after : atOnce(again(now[name]))
        }
        if (exchanges.length > 0) this.#standing = this.#stand()
        this.#count(counters)
        for (const { name, paths } of exchanges) this.#reportFindings(name, paths)
        if (exchanges.length > 0) for (const [path, { profile }] of brought) this.#reportSlips(path, profile)
      },
    }
  }

  /** The same for a commit that leaves all declarations as they are. */
  keeping(commit: AskedCommit): Redeclaration {
    const requires = { ...this.#versions, ...commit.requires }
    return { commit: { ...commit, requires }, take: counters => this.#count(counters) }
  }

  /** Whether a commit leaves all declarations as they are. @param brought as for `after` */
  isKeptBy(commit: AskedCommit, brought: ReadonlyMap<string, Declaration>): boolean {
    const brings =
      (name: KindName): Brought =>
      path => {
        const declares = brought.get(path)?.declares
        return declares && { raw: declares[name] }
      }
    const all: All = this.#snapshots
    return KIND_NAMES.every(
      name => !changesDeclarations(all[name], commit, brings(name), (a, b) => KINDS[name].same(a, b)),
    )
  }

  /** Whether counters after a commit tell of changes that are not its own. */
  isOvertaken(counters: Counters): boolean {
    return KIND_NAMES.some(name => (counters[name] ?? this.#versions[name] + 1) !== this.#versions[name] + 1)
  }

  /** Whether a commit was refused for a counter that stands higher than all that was followed has raised it. */
  isBehind(result: CommitResult | undefined): boolean {
    if (!result || result.ok || result.reason !== 'counter') return false
    return KIND_NAMES.some(name => name === result.counter && this.#versions[name] < result.current)
  }

  /**
   * Reads again what documents declare, at the paths and below those of collections; all of it counts at once.
   *
   * @param state changes with every commit of this process, after which reading begins anew
   * @param raised counters that the commits have raised which are followed, as often as each was; undefined where nobody knows
   * @returns whether commits may have been counted before they were followed: what was moved meanwhile is not known for sure
   */
  async readAgain(paths: ReadonlySet<string>, state: () => unknown, raised?: readonly string[]): Promise<boolean> {
    for (;;) {
      const begun = state()
      // Read first: declarations newer than their counter only make a commit look again.
      const counters = await this.#store.counters()
      const now: All = this.#snapshots
      const before: All = { ...now }
      const after: All = { ...now }
      for (const path of await declaringAt(this.#store, Object.values(now), paths)) {
        for (const name of KIND_NAMES) {
          const json = (await this.#store.derived(path, name)) ?? 'null'
          after[name] = await inTurns(after[name].exchanging(path, parsed(json)), json.length)
        }
      }
      // Somebody else may have read again meanwhile, too.
      if (begun !== state() || KIND_NAMES.some(name => now[name] !== before[name])) continue
      Object.assign(now, after)
      this.#standing = this.#stand()
      let isAhead = false
      for (const name of KIND_NAMES) {
        // Less than before, where the store was set back to an earlier state.
        const stored = counters[name] ?? 0
        const known = raised && this.#versions[name] + raised.filter(each => each === name).length
        isAhead ||= known !== undefined && known > stored
        // The store counts commits that are still to be followed: nobody's commit may pass for one that was decided by theirs.
        this.#versions[name] = Math.min(stored, known ?? stored)
      }
      return isAhead
    }
  }

  /**
   * Has what servers of the release before wrote say what it declares in this one.
   *
   * @param commits those that have just come; nothing is to do where none says so
   * @param state as for `readAgain`
   * @returns paths of the documents that were concerned
   */
  async deriveOutdated(commits: readonly { outdated?: boolean }[], state: () => unknown): Promise<ReadonlySet<string>> {
    let paths: ReadonlySet<string> = new Set()
    if (!commits.some(({ outdated }) => outdated)) return paths
    try {
      paths = await deriveOutdated(this.#store, this.derivation, this.#report)
    } catch (error) {
      // Whatever is stored counts until the store takes writes again.
      this.#report('Documents that the release before has written cannot be read again yet', { error })
    }
    if (paths.size > 0) await this.readAgain(paths, state)
    return paths
  }

  #reach(counters: Counters): void {
    for (const name of KIND_NAMES) this.#versions[name] = Math.max(this.#versions[name], counters[name] ?? 0)
  }

  /** Says which declarations of new document versions are not as their authors may think (RULE-13, MOD-8). */
  #reportFindings(name: KindName, paths: ReadonlySet<string>): void {
    const snapshot: Snapshot<unknown> = this.#snapshots[name]
    const findings = [...paths].flatMap(path => snapshot.findings(path))
    for (const finding of findings.slice(0, TOLD)) this.#report(KINDS[name].finding, finding)
  }

  #reportSlips(path: string, profile: Profile | undefined): void {
    const slips = slipsIn(profile)
    if (!slips) return
    const site = { settings: this.#vocabulary, counts: this.counts, model: this.snapshot('model') }
    for (const reason of toldSlips(site, path, slips).slice(0, TOLD))
      this.#report('A declaration does not say what it seems to', { path, reason })
  }
}

/** Stored declarations; `null` where a document declares nothing any more. */
function parsed(json: string): unknown {
  return JSON.parse(json) ?? undefined
}

/** Whether a commit puts, removes or moves documents; empty collections and properties declare nothing. */
function mayRedeclare({ changes }: AskedCommit): boolean {
  return changes.some(({ op }) => op !== 'collection' && op !== 'describe')
}

async function holdsFiles(store: Pick<SiteStore, 'walk'>): Promise<boolean> {
  for await (const _ of store.walk('/')) return true
  return false
}
