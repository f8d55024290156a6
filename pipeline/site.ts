/**
 * A site as the process knows it: its settings, its rules as they stand, and the resources it holds in memory.
 * Every commit of the site goes through here, so that memory never falls behind the store.
 */

import { AccessRules } from './access/access-rules.ts'
import type { RawAccess } from './access/extract.ts'
import type { DocumentCache } from './cache.ts'
import type { Leases } from './coordination/leases.ts'
import { profileOf } from './derive.ts'
import { Held, type Profile } from './held.ts'
import { type Basis, rederive } from './rederive.ts'
import type { Commit, CommitResult, Resource, SiteStore } from './store/store.ts'
import type { TreeDocument } from './tree/nodes.ts'

/** The settings of a site that the pipeline acts on. */
export interface SiteRules {
  /** Main host name without port; names the site in events (EVT-27). */
  host: string
  brand: string
  ns: string
  errorNs: string
  defaultGet: 'allow' | 'deny'
  /** Bytes. */
  maxBody: number
  /** Bytes; HTML and XML are held in memory while they are parsed (HTTP-181). */
  maxDocument: number
}

/** Name of the store's counter that rises with every change of rules and groups. */
export const ACCESS_COUNTER = 'access'

/** Writes that a commit applies beside what the store tells: trees that were settled with it. */
export interface Settled {
  path: string
  bytes: Uint8Array
  profile: Profile
  /** The tree of the new version, if the edit produced one. */
  settle?: () => TreeDocument
  access: RawAccess | undefined
}

export class Site {
  readonly settings: SiteRules
  readonly store: SiteStore
  readonly leases: Leases
  readonly #cache: DocumentCache
  readonly #report: (message: string, details: object) => void
  #rules: AccessRules
  #accessVersion: number
  /** Commits applied so far; tells a load whether what it read may be outdated. */
  #applied = 0
  readonly #watchers = new Set<(paths: Iterable<string>) => void>()

  private constructor(parts: {
    settings: SiteRules
    store: SiteStore
    leases: Leases
    cache: DocumentCache
    report: (message: string, details: object) => void
    rules: AccessRules
    accessVersion: number
  }) {
    this.settings = parts.settings
    this.store = parts.store
    this.leases = parts.leases
    this.#cache = parts.cache
    this.#report = parts.report
    this.#rules = parts.rules
    this.#accessVersion = parts.accessVersion
  }

  /**
   * Opens a site: compiles its rules from what was derived when its documents were committed.
   *
   * @param parts.report takes findings about rules (RULE-13) and repairs, for the log
   */
  static async open(parts: {
    settings: SiteRules
    store: SiteStore
    leases: Leases
    cache: DocumentCache
    basis: Basis
    report: (message: string, details: object) => void
  }): Promise<Site> {
    const { settings, store, basis, report } = parts
    await rederive(store, settings.ns, basis, report)
    const counters = await store.counters()
    let rules = AccessRules.empty(settings.ns)
    for await (const { path, value } of store.allDerived('access')) {
      rules = rules.withDocument(path, JSON.parse(value) as RawAccess)
    }
    return new Site({ ...parts, rules, accessVersion: counters[ACCESS_COUNTER] ?? 0 })
  }

  /** The rules as they stand. The object changes whenever a rule does; a request takes it once at its start. */
  get rules(): AccessRules {
    return this.#rules
  }

  /** Value of the store's counter that belongs to `rules`. */
  get accessVersion(): number {
    return this.#accessVersion
  }

  /** What is held in memory for a path; undefined says nothing about the store. */
  held(path: string): Held | undefined {
    return this.#cache.get(this.store.name, path)
  }

  /**
   * The newest version of a file.
   *
   * @param path canonical path
   * @returns undefined when nothing, or a collection, is stored there
   */
  async find(path: string): Promise<Held | undefined> {
    return this.#cache.get(this.store.name, path) ?? this.#load(path)
  }

  async #load(path: string): Promise<Held | undefined> {
    for (;;) {
      const applied = this.#applied
      const resource = await this.store.find(path)
      if (!resource || resource.kind === 'collection') return undefined
      const body = await this.store.body(resource)
      if (!body) continue
      const profile = resource.kind === 'document' ? await this.#profile(resource, body) : undefined
      const held = new Held(resource, body, profile)
      if (applied !== this.#applied) {
        const newer = this.#cache.get(this.store.name, path)
        if (newer) return newer
        const now = await this.store.find(path)
        if (now?.version !== resource.version) continue
      }
      this.#cache.set(this.store.name, held)
      return held
    }
  }

  async #profile(resource: Resource, body: { bytes: Uint8Array } | { file: string }): Promise<Profile | undefined> {
    const stored = await this.store.derived(resource.path, 'profile')
    if (stored) return JSON.parse(stored) as Profile
    if (!('bytes' in body)) return undefined
    return profileOf(body.bytes, resource.type, this.settings.ns)
  }

  /** The tree of a held document; counts as use of the tree. */
  tree(held: Held): TreeDocument {
    const { tree } = held
    this.#cache.weighTree(held)
    return tree
  }

  /**
   * Commits and brings memory in step before anybody else runs.
   *
   * @param settled what the commit puts, for every document among its changes
   */
  async commit(commit: Commit, settled: Settled[] = []): Promise<CommitResult> {
    const result = await this.store.commit(commit)
    if (!result.ok) return result
    this.#applied++
    const byPath = new Map(settled.map(s => [s.path, s]))
    for (const [path, resource] of result.resources) {
      if (path.endsWith('/')) continue
      const known = byPath.get(path)
      if (resource && known) this.#cache.set(this.store.name, this.#settle(resource, known))
      else this.#cache.delete(this.store.name, path)
    }
    for (const collection of removedCollections(commit)) this.#cache.deleteBelow(this.store.name, collection)
    this.#applyRules(commit, byPath, result.counters)
    for (const watcher of this.#watchers) watcher(result.resources.keys())
    return result
  }

  /**
   * Has a function told of the paths that each commit named, before anybody can read the new state through this site;
   * a path ending in `/` stands for everything below it, too.
   */
  watch(watcher: (paths: Iterable<string>) => void): void {
    this.#watchers.add(watcher)
  }

  #settle(resource: Resource, known: Settled): Held {
    const before = this.#cache.get(this.store.name, resource.path)
    const tree = this.#settleTree(known)
    before?.releaseTree()
    return new Held(resource, { bytes: known.bytes }, known.profile, tree)
  }

  /** The commit stands whatever happens here: a tree that cannot follow is parsed anew when somebody needs it. */
  #settleTree(known: Settled): TreeDocument | undefined {
    try {
      return known.settle?.()
    } catch (error) {
      this.#report('A parsed document could not follow its commit', { path: known.path, error })
      return undefined
    }
  }

  #applyRules(commit: Commit, settled: Map<string, Settled>, counters: Record<string, number>): void {
    const version = counters[ACCESS_COUNTER] ?? this.#accessVersion
    if (version === this.#accessVersion) return
    let rules = this.#rules
    const replace = (path: string, raw: RawAccess | undefined) => {
      rules = rules.withDocument(path, raw)
      for (const finding of rules.findings(path))
        this.#report('A rule or group is not as its author may think', finding)
    }
    for (const change of commit.changes) {
      if (change.op === 'put') replace(change.path, settled.get(change.path)?.access)
      else if (change.op === 'delete') for (const path of rules.documentsUnder(change.path)) replace(path, undefined)
      else if (change.op === 'move' || change.op === 'copy') {
        const alone = change.op === 'copy' && !change.deep && change.from.endsWith('/')
        const sources = alone ? [] : rules.documentsUnder(change.from)
        for (const path of rules.documentsUnder(change.to)) replace(path, undefined)
        for (const path of sources) {
          const raw = rules.document(path)
          if (change.op === 'move') replace(path, undefined)
          replace(change.to + path.slice(change.from.length), raw)
        }
        // A type that changes with the name makes the file another document, or one for the first time (HTTP-20).
        const moved = settled.get(change.to)
        if (moved) replace(change.to, moved.access)
      }
    }
    this.#rules = rules
    this.#accessVersion = version
  }
}

/** Collections whose members a commit takes away or replaces. */
function removedCollections({ changes }: Commit): string[] {
  const paths = changes.flatMap(change => {
    if (change.op === 'delete') return [change.path]
    if (change.op === 'move') return [change.from, change.to]
    return change.op === 'copy' ? [change.to] : []
  })
  return paths.filter(path => path.endsWith('/'))
}
