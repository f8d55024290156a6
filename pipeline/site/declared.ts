/**
 * What the documents of a site declare, as it stands: rules and groups, schemas, enumerations and shapes, with the values
 * of the store's counters that they belong to.
 */

import { AccessRules } from '../access/access-rules.ts'
import { type AccessTypes, type RawAccess, sameDeclarations } from '../access/extract.ts'
import { type RawDeclarations, sameModel } from '../model/declarations.ts'
import type { Registry } from '../model/registry.ts'
import { type StandingModel, standingModel } from '../model/standing.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import type { Commit, SiteStore } from '../store/store.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import type { Extensions } from '../tree/selector/selector.ts'
import { atOnce, inTurns } from '../tree/steps.ts'
import { type Basis, rederive } from './rederive.ts'
import { retypeAll, retyped } from './retype.ts'
import { afterCommit, applyingCommit, type Brought, changesDeclarations, declaringAt } from './snapshots.ts'

/** Name of the store's counter that rises with every change of rules and groups. */
export const ACCESS_COUNTER = 'access'

/** Name of the store's counter that rises with every change of schemas, enumerations and shapes. */
export const MODEL_COUNTER = 'model'

/** Declarations without effect, or another one than written, that one commit is reported for. */
const TOLD = 100

/** Stands for the length of a text: how many rules a commit changes shows only on the way. */
const UNKNOWN_LENGTH = 1024 * 1024

/** What a new version of a document declares. */
export interface Declaration {
  access: RawAccess | undefined
  model: RawDeclarations | undefined
  /** Rules and groups of the new version, by other types than those it was read with (RULE-12, GRP-4). */
  extract?: (types: AccessTypes, ns: string) => RawAccess | undefined
}

type Counters = Readonly<Record<string, number>>

/** A commit as it is asked for: which counters it raises is for what it declares to say. */
export type AskedCommit = Omit<Commit, 'raises'>

/** What a commit makes of the declarations of a site. */
export interface Redeclaration {
  /** The commit, with what it changes in the derived data of other documents, and the counters that it raises. */
  commit: Commit
  /** To be called when the commit was carried out, before anybody else runs. */
  take(counters: Counters): void
}

export class Declared {
  readonly #store: SiteStore
  readonly #report: (message: string, details: object) => void
  readonly #standing: StandingModel
  #rules: AccessRules
  #accessVersion: number
  #modelVersion: number

  private constructor(parts: {
    store: SiteStore
    report: (message: string, details: object) => void
    standing: StandingModel
    rules: AccessRules
    counters: Counters
  }) {
    this.#store = parts.store
    this.#report = parts.report
    this.#standing = parts.standing
    this.#rules = parts.rules
    this.#accessVersion = parts.counters[ACCESS_COUNTER] ?? 0
    this.#modelVersion = parts.counters[MODEL_COUNTER] ?? 0
  }

  /**
   * Puts together what was derived when the documents were committed.
   *
   * @param report takes findings about declarations (RULE-13, MOD-8) and repairs, for the log
   */
  static async read(parts: {
    store: SiteStore
    settings: Vocabulary
    basis: Basis
    report: (message: string, details: object) => void
  }): Promise<Declared> {
    const { store, settings, basis, report } = parts
    const rederived = await rederive(store, settings, basis, report)
    const counters = await store.counters()
    const standing = standingModel(settings)
    let rules = AccessRules.empty(settings.ns, standing.selectors)
    for await (const { path, value } of store.allDerived('access')) {
      rules = await inTurns(rules.exchanging(path, parsed<RawAccess>(value)), value.length)
    }
    let model = standing.registry
    for await (const { path, value } of store.allDerived('model')) {
      model = model.withDocument(path, parsed<RawDeclarations>(value))
    }
    if (rederived)
      for (const [path, raw] of await retypeAll(store, model, report)) rules = rules.withDocument(path, raw)
    standing.registry = model
    return new Declared({ store, report, standing, rules, counters })
  }

  /** The object changes whenever a rule does. */
  get rules(): AccessRules {
    return this.#rules
  }

  get accessVersion(): number {
    return this.#accessVersion
  }

  /** Another object whenever a schema, enumeration or shape changes. */
  get model(): Registry {
    return this.#standing.registry
  }

  get modelVersion(): number {
    return this.#modelVersion
  }

  /** What selectors of the site may use beside CSS. */
  get selectors(): Extensions {
    return this.#standing.selectors
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
    const before = this.model
    // What is replaced, goes or moves takes with it what it declares, whoever put that there a moment ago: whether others
    // have to be told shows only to a memory that knows all of it.
    const requires = { [ACCESS_COUNTER]: this.#accessVersion, [MODEL_COUNTER]: this.#modelVersion, ...commit.requires }
    const ruled = changesDeclarations(
      this.#rules,
      commit,
      path => {
        const known = brought.get(path)
        return known && { raw: known.access }
      },
      sameDeclarations,
    )
    const modelOf = (path: string) => {
      const known = brought.get(path)
      return known && { raw: known.model }
    }
    const modelled = changesDeclarations(before, commit, modelOf, sameModel)
    const declaring = new Set<string>()
    const model = modelled ? afterCommit(before, commit, modelOf, path => declaring.add(path)) : before
    const types = modelled
      ? await retyped(commit, {
          store: this.#store,
          before,
          after: model,
          access: path => this.#rules.document(path),
          brought: path => brought.get(path)?.extract,
          read,
        })
      : undefined
    const raises = [...(modelled ? [MODEL_COUNTER] : []), ...(ruled || types ? [ACCESS_COUNTER] : [])]
    const done = {
      ...commit,
      ...(types && { changes: types.changes }),
      ...(raises.length > 0 && { raises }),
      ...(mayRedeclare(commit) && { requires }),
    }
    const takeRules = ruled || types ? await this.#exchangedRules(done, brought, types?.access) : undefined
    return {
      commit: done,
      take: counters => {
        takeRules?.()
        this.#accessVersion = counters[ACCESS_COUNTER] ?? this.#accessVersion
        // Another commit may have been taken since.
        if (modelled) this.#standing.registry = this.model === before ? model : afterCommit(this.model, commit, modelOf)
        this.#modelVersion = counters[MODEL_COUNTER] ?? this.#modelVersion
        this.#reportLeftOut(declaring)
      },
    }
  }

  /** Whether counters after a commit tell of changes that are not its own. */
  isOvertaken(counters: Counters): boolean {
    const jumped = (counter: string, known: number) => (counters[counter] ?? known + 1) !== known + 1
    return jumped(ACCESS_COUNTER, this.#accessVersion) || jumped(MODEL_COUNTER, this.#modelVersion)
  }

  /**
   * Reads again what documents declare, at the paths and below those of collections; all of it counts at once.
   *
   * @param state changes with every commit of this process, after which reading begins anew
   */
  async readAgain(paths: ReadonlySet<string>, state: () => unknown): Promise<void> {
    for (;;) {
      const begun = state()
      // Read first: rules newer than their counter only make a commit look again.
      const counters = await this.#store.counters()
      const read: [path: string, access: string | undefined, model: string | undefined][] = []
      for (const path of await declaringAt(this.#store, [this.#rules, this.model], paths))
        read.push([path, await this.#store.derived(path, 'access'), await this.#store.derived(path, 'model')])
      if (begun !== state()) continue
      let rules = this.#rules
      for (const [path, access = 'null'] of read)
        rules = await inTurns(rules.exchanging(path, parsed<RawAccess>(access)), access.length)
      if (begun !== state()) continue
      this.#rules = rules
      for (const [path, , model] of read)
        this.#standing.registry = this.model.withDocument(path, parsed<RawDeclarations>(model))
      this.#accessVersion = Math.max(this.#accessVersion, counters[ACCESS_COUNTER] ?? 0)
      this.#modelVersion = Math.max(this.#modelVersion, counters[MODEL_COUNTER] ?? 0)
      return
    }
  }

  /** Says which declarations of new document versions have no effect (MOD-8). */
  #reportLeftOut(paths: ReadonlySet<string>): void {
    const findings = [...paths].flatMap(path => this.model.findings(path))
    for (const finding of findings.slice(0, TOLD)) this.#report('A declaration is left out', finding)
  }

  /**
   * Works out the rules after a commit, in turns with other work.
   *
   * @returns has them count
   */
  async #exchangedRules(
    commit: AskedCommit,
    brought: ReadonlyMap<string, Declaration>,
    types: ReadonlyMap<string, RawAccess | undefined> | undefined,
  ): Promise<() => void> {
    const accessOf: Brought<RawAccess> = path => {
      if (types?.has(path)) return { raw: types.get(path) }
      const known = brought.get(path)
      return known && { raw: known.access }
    }
    const changed = new Set<string>()
    const exchanging = (rules: AccessRules) =>
      applyingCommit(rules, commit, accessOf, (snapshot, path, raw) => {
        changed.add(path)
        return snapshot.exchanging(path, raw)
      })
    const before = this.#rules
    const after = await inTurns(exchanging(before), UNKNOWN_LENGTH)
    return () => {
      // Another commit may have been taken since.
      this.#rules = this.#rules === before ? after : atOnce(exchanging(this.#rules))
      const findings = [...changed].flatMap(path => this.#rules.findings(path))
      for (const finding of findings.slice(0, TOLD))
        this.#report('A rule or group is not as its author may think', finding)
    }
  }
}

/** Stored declarations; `null` where a document declares nothing any more. */
function parsed<Raw>(json: string | undefined): Raw | undefined {
  return json === undefined ? undefined : ((JSON.parse(json) as Raw | null) ?? undefined)
}

/** Whether a commit puts, removes or moves documents; empty collections and properties declare nothing. */
function mayRedeclare({ changes }: AskedCommit): boolean {
  return changes.some(({ op }) => op !== 'collection' && op !== 'describe')
}
