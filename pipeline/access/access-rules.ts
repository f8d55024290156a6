/**
 * All rules and groups of a site at one moment, indexed for the decision. Immutable: a commit that changes a document's
 * rules makes a new snapshot that shares everything else with the old one.
 */

import type { Extensions } from '../tree/selector/selector.ts'
import type { RawAccess } from './extract.ts'
import type { Pattern } from './glob.ts'
import { PersistentMap } from './persistent-map.ts'
import { type CompiledAccess, compileAccess, type Finding, type Group, type Rule } from './rules.ts'

/** Rules by method, in upper case, the strongest first; those for every method stand under `*`. */
type Bucket = ReadonlyMap<string, readonly Rule[]>

/** Directories by which patterns are indexed; deeper ones share the bucket of their ancestor. */
const INDEXED_DEPTH = 8
/** Buckets that one pattern may stand in before it goes to the bucket that every path looks into. */
const MAX_KEYS = 16
const EVERYWHERE = ''

export class AccessRules {
  readonly ns: string
  /** Additions to the selector language that rules may use. */
  readonly extensions: Extensions | undefined
  readonly #documents: PersistentMap<CompiledAccess>
  readonly #buckets: PersistentMap<Bucket>
  readonly #groups: PersistentMap<readonly Group[]>
  /** Number of groups whose type may decide membership by itself (GRP-4). */
  readonly subtypedGroups: number

  private constructor(parts: {
    ns: string
    extensions: Extensions | undefined
    documents: PersistentMap<CompiledAccess>
    buckets: PersistentMap<Bucket>
    groups: PersistentMap<readonly Group[]>
    subtypedGroups: number
  }) {
    this.ns = parts.ns
    this.extensions = parts.extensions
    this.#documents = parts.documents
    this.#buckets = parts.buckets
    this.#groups = parts.groups
    this.subtypedGroups = parts.subtypedGroups
  }

  /**
   * A site without rules.
   *
   * @param ns the site's vocabulary base URI
   * @param extensions additions to the selector language that rules may use (KEY-1)
   */
  static empty(ns: string, extensions?: Extensions): AccessRules {
    return new AccessRules({
      ns,
      extensions,
      documents: PersistentMap.empty(),
      buckets: PersistentMap.empty(),
      groups: PersistentMap.empty(),
      subtypedGroups: 0,
    })
  }

  /**
   * The rules after a document has changed. Only that document is compiled.
   *
   * @param path canonical path of the document
   * @param raw what its new version declares; undefined when it declares nothing or is gone
   */
  withDocument(path: string, raw: RawAccess | undefined): AccessRules {
    const before = this.#documents.get(path)
    if (!before && !raw) return this
    const after = raw && compileAccess(path, raw, this.extensions)
    return new AccessRules({
      ns: this.ns,
      extensions: this.extensions,
      documents: this.#documents.with(path, after),
      buckets: exchangeRules(this.#buckets, path, before?.rules ?? [], after?.rules ?? []),
      groups: exchangeGroups(this.#groups, path, before?.groups ?? [], after?.groups ?? []),
      subtypedGroups: this.subtypedGroups - subtyped(before) + subtyped(after),
    })
  }

  /** What a document declares, as it was extracted. */
  document(path: string): RawAccess | undefined {
    return this.#documents.get(path)?.raw
  }

  /** Paths of the declaring documents at a path: the document itself or, for a path ending in `/`, all below it. */
  documentsUnder(path: string): string[] {
    if (!path.endsWith('/')) return this.#documents.get(path) ? [path] : []
    return [...this.#documents.entries()].map(([document]) => document).filter(document => document.startsWith(path))
  }

  /** What the author of a document should know about its rules and groups (RULE-13). */
  findings(path: string): readonly Finding[] {
    return this.#documents.get(path)?.findings ?? []
  }

  /**
   * Lists of rules that may cover a method and path, the strongest of each first; every rule has still to be tested, and
   * may come more than once.
   *
   * @param method upper case, or undefined for every method
   * @param names the path's names (PATH-4)
   */
  *candidates(method: string | undefined, names: readonly string[]): Generator<readonly Rule[]> {
    for (const key of lookupKeys(names)) {
      const bucket = this.#buckets.get(key)
      if (!bucket) continue
      if (method === undefined) yield* bucket.values()
      else {
        for (const named of method === 'HEAD' ? ['HEAD', 'GET', '*'] : [method, '*']) {
          const rules = bucket.get(named)
          if (rules) yield rules
        }
      }
    }
  }

  groupsNamed(name: string): readonly Group[] {
    return this.#groups.get(name) ?? []
  }

  /** All groups of the site. */
  *groups(): Generator<Group> {
    for (const [, groups] of this.#groups.entries()) yield* groups
  }
}

function subtyped(access: CompiledAccess | undefined): number {
  return access?.groups.filter(group => group.subtypes.length > 0).length ?? 0
}

function exchangeRules(
  buckets: PersistentMap<Bucket>,
  document: string,
  before: readonly Rule[],
  after: readonly Rule[],
): PersistentMap<Bucket> {
  const added = new Map<string, Rule[]>()
  for (const rule of before) for (const key of indexKeys(rule.patterns)) added.set(key, [])
  for (const rule of after) {
    for (const key of indexKeys(rule.patterns)) {
      const rules = added.get(key)
      if (rules) rules.push(rule)
      else added.set(key, [rule])
    }
  }
  let changed = buckets
  for (const [key, rules] of added) {
    const bucket = new Map<string, Rule[]>()
    for (const [method, old] of buckets.get(key) ?? []) {
      const kept = old.filter(rule => rule.document !== document)
      if (kept.length > 0) bucket.set(method, kept)
    }
    for (const rule of rules) {
      for (const method of rule.methods) {
        const list = bucket.get(method)
        if (list) list.push(rule)
        else bucket.set(method, [rule])
      }
    }
    for (const list of bucket.values()) list.sort(strongestFirst)
    changed = changed.with(key, bucket.size > 0 ? bucket : undefined)
  }
  return changed
}

/** By the highest tier that a rule can have, a Deny before the Allows that it would beat (DEC-1). */
function strongestFirst(a: Rule, b: Rule): number {
  return b.strongest - a.strongest || Number(a.allow) - Number(b.allow)
}

function exchangeGroups(
  groups: PersistentMap<readonly Group[]>,
  document: string,
  before: readonly Group[],
  after: readonly Group[],
): PersistentMap<readonly Group[]> {
  const added = new Map<string, Group[]>()
  for (const { name } of before) added.set(name, [])
  for (const group of after) {
    const named = added.get(group.name)
    if (named) named.push(group)
    else added.set(group.name, [group])
  }
  let changed = groups
  for (const [name, named] of added) {
    const all = [...(groups.get(name) ?? []).filter(group => group.document !== document), ...named]
    changed = changed.with(name, all.length > 0 ? all : undefined)
  }
  return changed
}

/** Buckets of a rule: the directories, or whole paths, that its patterns begin with literally. */
function indexKeys(patterns: readonly Pattern[]): Set<string> {
  const keys = new Set<string>()
  for (const { heads } of patterns) {
    for (const { text, whole } of heads) keys.add(whole ? text : directory(text))
    if (keys.size > MAX_KEYS) return new Set([EVERYWHERE])
  }
  return keys
}

/** The text up to its last slash, or up to the deepest one that is indexed. */
function directory(text: string): string {
  let end = 0
  for (let depth = 0; depth <= INDEXED_DEPTH; depth++) {
    const slash = text.indexOf('/', end)
    if (slash < 0) break
    end = slash + 1
  }
  return text.slice(0, end)
}

/** Every key under which a pattern that matches one of the names may stand. */
function lookupKeys(names: readonly string[]): Set<string> {
  const keys = new Set([EVERYWHERE])
  for (const name of names) {
    keys.add(name)
    let end = 0
    for (let depth = 0; depth <= INDEXED_DEPTH; depth++) {
      const slash = name.indexOf('/', end)
      if (slash < 0) break
      end = slash + 1
      keys.add(name.slice(0, end))
    }
  }
  return keys
}
