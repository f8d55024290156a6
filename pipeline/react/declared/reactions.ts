/**
 * All reactions of a site at one moment, by document. Immutable: a commit that changes what a document declares makes a new
 * snapshot. What a request needs of several documents is put together when it is first asked for.
 */

import { compilePattern, matchesNames, mistakenPattern, type Pattern, pathNames } from '../../access/glob.ts'
import { PersistentMap } from '../../access/persistent-map.ts'
import type { RawCode } from '../../model/declarations.ts'
import { MOST_DOUBTED } from '../../model/doubts.ts'
import { shown } from '../../model/violations.ts'
import { asciiUpper, isBlank, trimmed } from '../../tree/ascii.ts'
import { type Extensions, parseSelector, type Selector } from '../../tree/selector/selector.ts'
import { mapping, type Steps } from '../../tree/steps.ts'
import type { CallField, RawAction, RawConstraint, RawHandler, RawReaction, RawReactions, RawValue } from './extract.ts'

/** A trigger or processor, ready to be asked. */
export interface Reaction extends Pick<RawReaction, 'kind' | 'when' | 'action' | 'otherwise'> {
  /** Document that declares it, and its place among the reactions there, from 0. */
  path: string
  place: number
  /** As written, for people. */
  raw: RawReaction
  /** Undefined: every path. */
  resources: readonly Pattern[] | undefined
  /** Upper case; undefined: every method. */
  methods: ReadonlySet<string> | undefined
  /** Undefined: the filter is not there. A selector that does not parse matches nothing, so it is none of these. */
  selectors: readonly Selector[] | undefined
  /** Undefined: every status. */
  statuses: readonly StatusFilter[] | undefined
}

/** A code, or a class such as 4 for 4xx. */
export type StatusFilter = { code: number } | { hundreds: number }

/** What the author of a document should know about its reactions. */
export interface ReactionFinding {
  path: string
  reason: string
}

/** What may run for a method and path. */
export interface Candidates {
  triggers: readonly Reaction[]
  processors: readonly Reaction[]
}

/** A document with what its patterns and selectors mean: of each, that is read once, when it is stored (SEC-12). */
interface Declared {
  raw: RawReactions
  reactions: readonly Reaction[]
  constraints: readonly PlacedConstraint[]
}

/** Characters of the literal beginning of a pattern by which reactions are found. */
const LONGEST_KEY = 64
/** Beginnings of one reaction; one with more is looked at for every path. */
const MOST_KEYS = 100
/** Of requests for which reactions run, on either face (REA-6). */
const METHODS = new Set('GET HEAD PUT DELETE POST MOVE COPY PATCH QUERY OPTIONS *'.split(' '))
const NOTHING: Candidates = { triggers: [], processors: [] }

export class SiteReactions {
  readonly #selectors: Extensions
  readonly #documents: PersistentMap<Declared>
  readonly #size: number
  /** No document declares anything of this kind. */
  readonly isEmpty: boolean
  #ordered: Candidates | undefined
  #transitions: { constraints: PlacedConstraint[]; handlers: PlacedHandler[] } | undefined
  #index: HeadIndex | undefined

  private constructor(selectors: Extensions, documents: PersistentMap<Declared>, size: number) {
    this.#selectors = selectors
    this.#documents = documents
    this.#size = size
    this.isEmpty = size === 0
  }

  static empty(selectors: Extensions): SiteReactions {
    return new SiteReactions(selectors, PersistentMap.empty(), 0)
  }

  /**
   * The reactions after a document has changed.
   *
   * @param raw what its new version declares; undefined when it declares nothing or is gone
   */
  *exchanging(path: string, raw: RawReactions | undefined): Steps<SiteReactions> {
    const before = this.#documents.get(path)
    if (!before && !raw) return this
    const size = this.#size + (raw ? 1 : 0) - (before ? 1 : 0)
    const declared = raw && (yield* compiling(raw, path, this.#selectors))
    return new SiteReactions(this.#selectors, this.#documents.with(path, declared), size)
  }

  document(path: string): RawReactions | undefined {
    return this.#documents.get(path)?.raw
  }

  /** All code of what a document declares. */
  codeIn(path: string): RawCode[] {
    const { reactions = [], handlers = [] } = this.document(path) ?? {}
    return [...codeOf({ triggers: reactions, processors: [] }), ...handlers.flatMap(({ when }) => when)]
  }

  documentsUnder(path: string): string[] {
    if (!path.endsWith('/')) return this.#documents.get(path) ? [path] : []
    return [...this.#documents.entries()].flatMap(([each]) => (each.startsWith(path) ? [each] : []))
  }

  /** What was left out (REA-4), and what fits nothing although it looks as if it did. */
  findings(path: string): ReactionFinding[] {
    const raw = this.document(path)
    if (!raw) return []
    const leftOut = (raw.ignored ?? []).map(reason => `${reason} is left out`)
    return [...leftOut, ...doubtsAbout(raw, this.#selectors)].map(reason => ({ path, reason }))
  }

  /** Those of all documents, in the order of their paths. */
  allFindings(): ReactionFinding[] {
    return this.#inPathOrder().flatMap(([path]) => this.findings(path))
  }

  /** Triggers and processors in the order in which they run (REA-11). */
  get ordered(): Candidates {
    this.#ordered ??= this.#order()
    return this.#ordered
  }

  #order(): Candidates {
    if (this.#size === 0) return NOTHING
    const all = this.#inPathOrder().flatMap(([, { reactions }]) => reactions)
    return {
      triggers: all.filter(({ kind }) => kind === 'trigger'),
      processors: all.filter(({ kind }) => kind === 'processor'),
    }
  }

  #inPathOrder(): [string, Declared][] {
    return [...this.#documents.entries()].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  }

  /**
   * What may run for a request, by its method and path alone.
   *
   * @param path decoded, without query
   * @returns undefined when nothing may: such a request pays nothing more
   */
  candidates(method: string, path: string): Candidates | undefined {
    const names = pathNames(path)
    const fitting = this.mayMatch(names).filter(
      ({ methods, resources }) =>
        (methods === undefined || methods.has(method) || (method === 'HEAD' && methods.has('GET'))) &&
        (resources === undefined || resources.some(pattern => matchesNames(pattern, names))),
    )
    if (fitting.length === 0) return undefined
    return {
      triggers: fitting.filter(({ kind }) => kind === 'trigger'),
      processors: fitting.filter(({ kind }) => kind === 'processor'),
    }
  }

  /** The triggers that a read of a path passes, as they are written. */
  guards(path: string): string[] {
    return (this.candidates('GET', path)?.triggers ?? []).map(({ raw }) => JSON.stringify(raw))
  }

  /** Reactions in their order, without those whose patterns begin with something else than a path does. */
  mayMatch(names: readonly string[]): readonly Reaction[] {
    if (this.#size === 0) return []
    this.#index ??= indexed([...this.ordered.triggers, ...this.ordered.processors])
    const { byKey, lengths } = this.#index
    const found = new Map<Reaction, number>()
    for (const name of names)
      for (const length of lengths) {
        if (length > name.length) continue
        for (const [reaction, order] of byKey.get(name.slice(0, length)) ?? []) found.set(reaction, order)
      }
    return [...found].sort(([, a], [, b]) => a - b).map(([reaction]) => reaction)
  }

  /** Rules of transitions, by path and place. */
  get constraints(): readonly PlacedConstraint[] {
    return this.#placed().constraints
  }

  get handlers(): readonly PlacedHandler[] {
    return this.#placed().handlers
  }

  #placed(): { constraints: PlacedConstraint[]; handlers: PlacedHandler[] } {
    if (this.#transitions) return this.#transitions
    const placed: { constraints: PlacedConstraint[]; handlers: PlacedHandler[] } = { constraints: [], handlers: [] }
    for (const [path, { raw, constraints }] of this.#size === 0 ? [] : this.#inPathOrder()) {
      for (const constraint of constraints) placed.constraints.push(constraint)
      for (const handler of raw.handlers) placed.handlers.push({ path, handler })
    }
    this.#transitions = placed
    return placed
  }
}

/** Reactions, with their places in the order, by what their patterns begin with literally. */
interface HeadIndex {
  byKey: ReadonlyMap<string, readonly (readonly [reaction: Reaction, order: number])[]>
  /** Of the keys. */
  lengths: readonly number[]
}

function indexed(reactions: readonly Reaction[]): HeadIndex {
  const byKey = new Map<string, [Reaction, number][]>()
  for (const [order, reaction] of reactions.entries()) {
    for (const key of keysOf(reaction)) {
      const known = byKey.get(key)
      if (known) known.push([reaction, order])
      else byKey.set(key, [[reaction, order]])
    }
  }
  return { byKey, lengths: [...new Set([...byKey.keys()].map(key => key.length))] }
}

function keysOf({ resources }: Reaction): ReadonlySet<string> {
  const heads = resources?.flatMap(pattern => pattern.heads)
  if (!heads || heads.length > MOST_KEYS) return new Set([''])
  return new Set(heads.map(({ text }) => text.slice(0, LONGEST_KEY)))
}

export interface PlacedConstraint {
  /** Document that declares it. */
  path: string
  constraint: RawConstraint
  selector: Selector
}

export interface PlacedHandler {
  path: string
  handler: RawHandler
}

function* compiling(raw: RawReactions, path: string, extensions: Extensions): Steps<Declared> {
  const declared = { raw, reactions: [] as Reaction[], constraints: [] as PlacedConstraint[] }
  for (const [place, reaction] of raw.reactions.entries()) {
    yield
    const { kind, resource, method, selector, status, when, action, otherwise } = reaction
    const methods = new Set(method.map(each => asciiUpper(each)))
    declared.reactions.push({
      kind,
      path,
      place,
      raw: reaction,
      when,
      action,
      otherwise,
      resources:
        resource.length === 0 || resource.includes('*')
          ? undefined
          : yield* mapping(resource, each => compilePattern(each)),
      methods: methods.size === 0 || methods.has('*') ? undefined : methods,
      selectors: selector.length === 0 ? undefined : yield* parsing(selector, extensions),
      statuses: status.length === 0 || kind === 'trigger' ? undefined : status.flatMap(statusFilter),
    })
  }
  for (const constraint of raw.constraints) {
    // One that does not parse watches nothing (REA-4).
    for (const selector of yield* parsing([constraint.selector], extensions))
      declared.constraints.push({ path, constraint, selector })
    yield
  }
  return declared
}

function* parsing(texts: readonly string[], extensions: Extensions): Steps<Selector[]> {
  const parsed = yield* mapping(texts, each => parseSelector(each, extensions))
  return parsed.flatMap(selector => selector ?? [])
}

/** Of the texts of reactions so many are looked at, in one turn. */
function* doubtsAbout({ reactions, constraints, handlers }: RawReactions, extensions: Extensions): Generator<string> {
  let left = MOST_DOUBTED
  const first = <T>(list: readonly T[]) => {
    const some = list.slice(0, left)
    left -= some.length
    return some
  }
  for (const { kind, resource, method, status, selector, action, otherwise } of reactions.slice(0, MOST_DOUBTED)) {
    for (const call of [...first(action), ...first(otherwise)]) yield* doubtsAboutCall(call, kind)
    for (const text of first(resource)) {
      const mistaken = mistakenPattern(text)
      if (mistaken) yield `the resource ${shown(text)} of a ${kind} ${mistaken}`
    }
    for (const text of first(method))
      if (!METHODS.has(asciiUpper(text))) yield `the method ${shown(text)} of a ${kind} is none that runs one`
    for (const text of first(selector))
      if (!parseSelector(text, extensions))
        yield `the selector ${shown(text)} of a ${kind} does not parse: it selects nothing`
    if (kind === 'trigger' && status.length > 0) yield 'a trigger has a status, which is not known before the answer'
    else
      for (const text of first(status))
        if (statusFilter(text).length === 0)
          yield `the status ${shown(text)} of a processor is none, such as 404 or 4xx: it never matches`
  }
  for (const { selector } of [...constraints.slice(0, MOST_DOUBTED), ...handlers.slice(0, MOST_DOUBTED)])
    if (!parseSelector(selector, extensions))
      yield `the selector ${shown(selector)} of a transition does not parse: it watches nothing`
  for (const { url, method } of handlers.slice(0, MOST_DOUBTED))
    yield* doubtsAboutPlainCall(url, method, 'transition handler')
}

/** What is worked out when the call is made may be anything. */
function* doubtsAboutCall(action: RawAction, kind: string): Generator<string> {
  if (!('properties' in action)) return
  const plain = (name: CallField) => {
    const value = action.properties.find(([each]) => each === name)?.[1]
    return typeof value === 'string' ? value : undefined
  }
  yield* doubtsAboutPlainCall(plain('url'), plain('method'), kind)
}

function* doubtsAboutPlainCall(url: string | undefined, method: string | undefined, kind: string): Generator<string> {
  const why = url === undefined ? undefined : wrongUrl(trimmed(url))
  if (why !== undefined) yield `a request of a ${kind} is never sent: ${why}`
  if (method !== undefined && !isBlank(method) && !SENT.has(asciiUpper(trimmed(method))))
    yield `a request of a ${kind} is never sent: the method ${shown(method)} is none that can be`
}

/** Methods of calls (REA-82). */
export const SENT: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])

/** @returns why an address cannot be called; nothing of it is told, it may hold a secret */
export function wrongUrl(url: string): string | undefined {
  if (url === '') return 'the url is blank'
  if (url.startsWith('/') && !url.startsWith('//')) return undefined
  if (!URL.canParse(url)) return 'the url cannot be read'
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return 'the url is neither http nor https'
  return username !== '' || password !== '' ? 'the url has credentials' : undefined
}

/** REA-24: other forms never match. */
function statusFilter(text: string): StatusFilter[] {
  if (/^\d{3}$/.test(text)) return [{ code: Number(text) }]
  const hundreds = /^([1-5])xx$/i.exec(text)?.[1]
  return hundreds === undefined ? [] : [{ hundreds: Number(hundreds) }]
}

type Coded = Pick<RawReaction, 'when' | 'action' | 'otherwise'>

/** All code that may run: gates, actions, and properties of calls. */
export function codeOf({ triggers, processors }: Record<keyof Candidates, readonly Coded[]>): RawCode[] {
  const ofValue = (value: RawValue): RawCode[] => (typeof value === 'string' ? [] : [value])
  const ofAction = (action: RawAction): RawCode[] => {
    if (!('properties' in action)) return [action]
    return action.properties.flatMap(property => {
      if (property[0] !== 'header') return ofValue(property[1])
      const header = property[1]
      return 'line' in header ? ofValue(header.line) : header.pair.flatMap(([, value]) => ofValue(value))
    })
  }
  return [...triggers, ...processors].flatMap(({ when, action, otherwise }) => [
    ...when,
    ...[...action, ...otherwise].flatMap(ofAction),
  ])
}

/** Whether an answer, and the 304 in its place, is given as it is: it may be given again without asking. */
export function leavesAlone({ triggers, processors }: Candidates, status: number): boolean {
  if (triggers.length > 0) return false
  return processors.every(processor => !fitsStatus(processor, status) && !fitsStatus(processor, 304))
}

/** Whether a processor runs for a status (REA-24). */
export function fitsStatus({ statuses }: Reaction, status: number): boolean {
  if (!statuses) return true
  return statuses.some(filter =>
    'code' in filter ? filter.code === status : filter.hundreds === Math.floor(status / 100),
  )
}
