/**
 * All rules and groups of a site at one moment, indexed for the decision. Immutable: a commit that changes a document's
 * rules makes a new snapshot that shares everything else with the old one.
 */

import { getHeapStatistics } from 'node:v8'
import { KeptShare, KeptTogether } from '../kept-together.ts'
import type { Extensions } from '../tree/selector/selector.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import { doubtsAbout } from './doubts.ts'
import type { RawAccess } from './extract.ts'
import { mayMatchNames, type Pattern, pathNames } from './glob.ts'
import type { Decision } from './matching.ts'
import { PersistentMap } from './persistent-map.ts'
import { type CompiledAccess, compilingAccess, type Group, type Rule, type RuleFinding } from './rules.ts'

/** Rules by method, in upper case, the strongest first; those for every method stand under `*`. */
type Bucket = ReadonlyMap<string, readonly Rule[]>

/** Characters of the literal text before a pattern's first wildcard by which it is indexed. */
const LONGEST_KEY = 64
/** Buckets that one pattern may stand in before it goes to the bucket that every path looks into. */
const MAX_KEYS = 16
const EVERYWHERE = ''
/** Answers of one kind, and characters of the questions that they are kept for. */
const MOST_REMEMBERED = 1_000
const LONGEST_REMEMBERED = 500

/** Bytes that an answer takes beside its question. */
const BYTES_OF_ANSWER = 80
/** Bytes that come together before they are counted for all sites: a listing asks about a thousand paths. */
const COUNTED_AT_ONCE = 4 * 1024
/** The part of the heap that those of all sites may take. */
const PART_OF_HEAP = 1 / 32
const ofAllSites = new KeptTogether<object>(getHeapStatistics().heap_size_limit * PART_OF_HEAP)

/** Rules, buckets or groups that are looked at in one step. */
const PER_STEP = 100

export class AccessRules {
  readonly ns: string
  /** Additions to the selector language that rules may use. */
  readonly extensions: Extensions | undefined
  readonly #documents: PersistentMap<CompiledAccess>
  readonly #buckets: PersistentMap<Bucket>
  /** Number of buckets by the length of their key. */
  readonly #lengths: ReadonlyMap<number, number>
  readonly #groups: PersistentMap<readonly Group[]>
  readonly #remembered = new Remembered<boolean>()
  readonly #shared = new Remembered<Decision | 'varies'>()
  /** Number of groups whose type may decide membership by itself (GRP-4). */
  readonly subtypedGroups: number

  private constructor(parts: {
    ns: string
    extensions: Extensions | undefined
    documents: PersistentMap<CompiledAccess>
    buckets: PersistentMap<Bucket>
    lengths: ReadonlyMap<number, number>
    groups: PersistentMap<readonly Group[]>
    subtypedGroups: number
  }) {
    this.ns = parts.ns
    this.extensions = parts.extensions
    this.#documents = parts.documents
    this.#buckets = parts.buckets
    this.#lengths = parts.lengths
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
      lengths: new Map(),
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
    return atOnce(this.exchanging(path, raw))
  }

  /** `withDocument` in steps: documents may hold thousands of rules. */
  *exchanging(path: string, raw: RawAccess | undefined): Steps<AccessRules> {
    const before = this.#documents.get(path)
    if (!before && !raw) return this
    const after = raw && (yield* compilingAccess(path, raw, this.extensions))
    return new AccessRules({
      ns: this.ns,
      extensions: this.extensions,
      documents: this.#documents.with(path, after),
      ...(yield* exchangingRules(this.#buckets, this.#lengths, path, before?.rules ?? [], after?.rules ?? [])),
      groups: yield* exchangingGroups(this.#groups, path, before?.groups ?? [], after?.groups ?? []),
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
  findings(path: string): readonly RuleFinding[] {
    const access = this.#documents.get(path)
    if (!access) return []
    const groups = this.#groups
    const has = (name: string) => groups.get(name) !== undefined
    return [...access.findings, ...doubtsAbout(path, access.raw, { has, names: () => firstOf(groups.entries()) })]
  }

  /**
   * Lists of rules that may cover a method and path, the strongest of each first; every rule has still to be tested, and
   * may come more than once.
   *
   * @param method upper case, or undefined for every method
   * @param names the path's names (PATH-4)
   */
  *candidates(method: string | undefined, names: readonly string[]): Generator<readonly Rule[]> {
    for (const key of this.#keysOf(names)) {
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

  /**
   * Whether some rule of a kind covers a method and path, whatever its lookups find. Remembered, as it is the same for
   * every requester.
   *
   * @param kind names what `isMeant` tells
   */
  anyCovers(kind: string, method: string, path: string, isMeant: (rule: Rule) => boolean): boolean {
    const question = `${kind} ${method} ${path}`
    const known = this.#remembered.get(question)
    if (known !== undefined) return known
    const names = pathNames(path)
    let found = false
    for (const rules of this.candidates(method, names)) {
      found ||= rules.some(rule => isMeant(rule) && rule.patterns.some(pattern => mayMatchNames(pattern, names)))
    }
    this.#remembered.set(question, found)
    return found
  }

  /**
   * What is remembered of the decision about a method and a whole resource.
   *
   * @returns `varies` where it depends on the request; undefined when it is not known whether it does
   */
  sharedDecision(method: string, path: string): Decision | 'varies' | undefined {
    return this.#shared.get(`${method} ${path}`)
  }

  /** Remembers that for all requests. */
  shareDecision(method: string, path: string, decision: Decision | 'varies'): void {
    this.#shared.set(`${method} ${path}`, decision)
  }

  /** Every key under which a pattern that matches one of the names may stand. */
  #keysOf(names: readonly string[]): Set<string> {
    const keys = new Set<string>()
    for (const name of names) {
      for (const length of this.#lengths.keys()) if (length <= name.length) keys.add(name.slice(0, length))
    }
    return keys
  }

  groupsNamed(name: string): readonly Group[] {
    return this.#groups.get(name) ?? []
  }

  /** All groups of the site. */
  *groups(): Generator<Group> {
    for (const [, groups] of this.#groups.entries()) yield* groups
  }
}

function* firstOf<T>(pairs: Iterable<readonly [T, unknown]>): Generator<T> {
  for (const [first] of pairs) yield first
}

function subtyped(access: CompiledAccess | undefined): number {
  return access?.groups.filter(group => group.subtypes.length > 0).length ?? 0
}

function* exchangingRules(
  buckets: PersistentMap<Bucket>,
  lengths: ReadonlyMap<number, number>,
  document: string,
  before: readonly Rule[],
  after: readonly Rule[],
): Steps<{ buckets: PersistentMap<Bucket>; lengths: ReadonlyMap<number, number> }> {
  const added = new Map<string, Rule[]>()
  let seen = 0
  for (const rule of before) {
    if (++seen % PER_STEP === 0) yield
    for (const key of indexKeys(rule.patterns)) added.set(key, [])
  }
  for (const rule of after) {
    if (++seen % PER_STEP === 0) yield
    for (const key of indexKeys(rule.patterns)) {
      const rules = added.get(key)
      if (rules) rules.push(rule)
      else added.set(key, [rule])
    }
  }
  const builder = buckets.builder()
  const counts = new Map(lengths)
  for (const [key, rules] of added) {
    if (++seen % PER_STEP === 0) yield
    const known = buckets.get(key)
    const bucket = exchanged(known, document, rules)
    builder.set(key, bucket)
    count(counts, key.length, Number(bucket !== undefined) - Number(known !== undefined))
  }
  return { buckets: builder.finished(), lengths: counts }
}

/** A bucket in which a document has other rules; undefined when it is empty. */
function exchanged(known: Bucket | undefined, document: string, rules: readonly Rule[]): Bucket | undefined {
  const bucket = new Map<string, Rule[]>()
  for (const [method, old] of known ?? []) {
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
  return bucket.size > 0 ? bucket : undefined
}

/** By the highest tier that a rule can have, a Deny before the Allows that it would beat (DEC-1). */
function strongestFirst(a: Rule, b: Rule): number {
  return b.strongest - a.strongest || Number(a.allow) - Number(b.allow)
}

function* exchangingGroups(
  groups: PersistentMap<readonly Group[]>,
  document: string,
  before: readonly Group[],
  after: readonly Group[],
): Steps<PersistentMap<readonly Group[]>> {
  const added = new Map<string, Group[]>()
  for (const { name } of before) added.set(name, [])
  for (const group of after) {
    const named = added.get(group.name)
    if (named) named.push(group)
    else added.set(group.name, [group])
  }
  const builder = groups.builder()
  let seen = 0
  for (const [name, named] of added) {
    if (++seen % PER_STEP === 0) yield
    const all = [...(groups.get(name) ?? []).filter(group => group.document !== document), ...named]
    builder.set(name, all.length > 0 ? all : undefined)
  }
  return builder.finished()
}

/** Buckets of a rule: the texts, or whole paths, that its patterns begin with literally. */
function indexKeys(patterns: readonly Pattern[]): Set<string> {
  const keys = new Set<string>()
  for (const { heads } of patterns) {
    for (const { text } of heads) keys.add(text.slice(0, LONGEST_KEY))
    if (keys.size > MAX_KEYS) return new Set([EVERYWHERE])
  }
  return keys
}

/** Counts buckets by the length of their keys. */
function count(counts: Map<number, number>, length: number, change: number): void {
  const left = (counts.get(length) ?? 0) + change
  if (left > 0) counts.set(length, left)
  else counts.delete(length)
}

/**
 * Answers about paths, as a site remembers them: some for each, and those of all sites within a part of the heap, since anybody
 * may ask for as many paths of each as they like (SEC-12).
 */
export class Remembered<Answer> {
  readonly #answers = new Map<string, Answer>()
  #bytes = 0
  #counted = 0
  readonly #share: KeptShare<Remembered<Answer>>

  constructor(together = ofAllSites) {
    this.#share = new KeptShare(together, this, remembered => remembered.clear())
  }

  get(question: string): Answer | undefined {
    return this.#answers.get(question)
  }

  set(question: string, answer: Answer): void {
    if (this.#answers.size >= MOST_REMEMBERED) this.clear()
    if (question.length > LONGEST_REMEMBERED) return
    if (!this.#answers.has(question)) this.#bytes += BYTES_OF_ANSWER + 2 * question.length
    this.#answers.set(question, answer)
    if (this.#bytes < this.#counted + COUNTED_AT_ONCE) return
    this.#counted = this.#bytes
    this.#share.use(this.#bytes)
  }

  clear(): void {
    this.#answers.clear()
    this.#bytes = 0
    this.#counted = 0
  }
}
