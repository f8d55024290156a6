/**
 * Declarations by the types that schemas make of them: when a schema's parents change, documents with items of the types
 * concerned are read again, in the same commit (RULE-12, GRP-4).
 */

import { Fault } from '../fault.ts'
import { typeKey } from '../model/entries.ts'
import { findingItems } from '../model/items.ts'
import type { Change, Commit, Guard } from '../store/commit.ts'
import { isWithin, namesCollection } from '../store/paths.ts'
import type { SiteStore } from '../store/store.ts'
import { TreeError } from '../tree/document.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import { storedDeclarations } from './derive.ts'
import type { Derivation } from './kind.ts'
import { type Declares, KIND_NAMES, KINDS, type KindName, subtypesOfKind } from './kinds.ts'

/** Shows the tree of a document that is not stored yet to work in steps, which must not keep it and may begin anew. */
export type ShowTree = <T>(look: (tree: TreeDocument) => Steps<T>) => Promise<T>

/** What a commit needs to know of the site. */
export interface Retyping {
  store: Pick<SiteStore, 'lookup' | 'version'>
  /** What documents were read by so far. */
  before: Derivation
  after: Derivation
  /** What a document declares now. */
  declared(name: KindName, path: string): unknown
  /** Shows a document that the commit itself brings; undefined for others. */
  brought(path: string): ShowTree | undefined
  /** A stored document with its version; undefined when it is gone or none. */
  read(path: string): Promise<{ tree: TreeDocument; version: number } | undefined>
}

export interface Retyped {
  /** The changes of the commit with what the new types add to them. */
  changes: Change[]
  /** That memory knows all items of the types which are stored: what others declare would be left as it was. */
  guard: Guard
  /** Kinds that documents have to be read again for. */
  kinds: readonly KindName[]
  /** What documents declare by the new types, for every kind concerned, by path. */
  declares: Map<string, Declares>
}

/**
 * @returns undefined when the types stay as they are
 * @throws Fault 422 for a document whose items break a limit once they declare something
 */
export async function retyped({ changes }: Pick<Commit, 'changes'>, site: Retyping): Promise<Retyped | undefined> {
  const { store, before, after, declared, brought, read } = site
  const types = new Set<string>()
  const kinds = KIND_NAMES.filter(name => {
    const old = new Set(subtypesOfKind(name, before, before.subtypes))
    const now = new Set(subtypesOfKind(name, after, after.subtypes))
    const concerned = [...old].filter(type => !now.has(type)).concat([...now].filter(type => !old.has(type)))
    for (const type of concerned) types.add(type)
    return concerned.length > 0
  })
  if (kinds.length === 0) return undefined
  const declares = new Map<string, Declares>()
  const rewritten: Change[] = []
  for (const change of changes) {
    const arriving = arrivalIn(change)
    const show = arriving && brought(arriving.path)
    rewritten.push(change)
    if (!show) continue
    const found = await withinLimits(arriving.path, () => show(tree => extractingKinds(tree, kinds, after)))
    declares.set(arriving.path, found)
    const derived = { ...arriving.change.derived }
    for (const name of kinds) delete derived[name]
    rewritten.splice(-1, 1, { ...arriving.change, derived: { ...derived, ...storedDeclarations(found) } })
  }
  // Before everything else: what moves, or is copied, takes along what it declares then.
  const reread: Change[] = []
  const since = await store.version()
  const put = new Set(changes.flatMap(change => (change.op === 'put' ? [change.path] : [])))
  const placing = changes.filter(({ op }) => op !== 'put')
  let areKnown = true
  for (const path of await holdersOf(store, types)) {
    if (!isLeft(path, put.has(path) ? changes : placing)) continue
    const document = await read(path)
    if (!document) {
      areKnown = false
      break
    }
    // An edit that is committed meanwhile leaves the tree as it is.
    const unpin = pinTree(document.tree)
    const found = await extractInTurns(path, document.tree, kinds, after).finally(unpin)
    const other = kinds.filter(name => !KINDS[name].same(found[name], declared(name, path)))
    if (other.length > 0) declares.set(path, found)
    // Also where it stays as it is: what memory has may be older than what is stored.
    reread.push({ op: 'derive', path, expect: document.version, derived: rewrittenDeclarations(found, other) })
  }
  const guard = areKnown ? { any: [...types].map(type => [typeKey(type)]), expect: { since } } : NEVER
  return { changes: [...reread, ...rewritten], guard, kinds, declares }
}

/** Holds for nobody. */
const NEVER: Guard = { any: [], expect: 'some' }

/** A change that may bring a document that is read anew: a new version, or a file whose name makes it another one (HTTP-20). */
function arrivalIn(change: Change) {
  if (change.op === 'put') return { path: change.path, change }
  const isRead = (change.op === 'move' || change.op === 'copy') && change.derived !== undefined
  return isRead ? { path: change.to, change } : undefined
}

/** Whether anything is left, under whatever names, of a document that is stored at a path as it was. */
function isLeft(path: string, changes: readonly Change[]): boolean {
  let places = [path]
  for (const change of changes) {
    if (change.op === 'put' || change.op === 'delete') places = places.filter(place => !isWithin(place, change.path))
    else if (change.op === 'move' || change.op === 'copy') {
      const { op, from, to } = change
      const isAlone = op === 'copy' && !change.deep && namesCollection(from)
      const going = isAlone ? [] : places.filter(place => isWithin(place, from))
      const staying = places.filter(place => !isWithin(place, to) && !(op === 'move' && isWithin(place, from)))
      places = [...staying, ...going.map(place => to + place.slice(from.length))]
    }
  }
  return places.length > 0
}

/**
 * What a document declares of some kinds, sharing the event loop where it is large.
 *
 * @throws Fault 422 for a document whose items break a limit once they declare something
 */
export function extractInTurns(
  path: string,
  tree: TreeDocument,
  kinds: readonly KindName[],
  derivation: Derivation,
): Promise<Declares> {
  return withinLimits(path, () => inTurns(extractingKinds(tree, kinds, derivation), tree.source.length))
}

async function withinLimits(path: string, extract: () => Promise<Declares>): Promise<Declares> {
  try {
    return await extract()
  } catch (error) {
    throw error instanceof TreeError ? overLimit(path, error) : error
  }
}

function* extractingKinds(document: TreeDocument, kinds: readonly KindName[], derivation: Derivation): Steps<Declares> {
  const source = { document, items: yield* findingItems(document.root) }
  const found: Partial<Record<KindName, unknown>> = {}
  for (const name of kinds) {
    const raw = yield* KINDS[name].extracting(source, derivation)
    if (raw !== undefined) found[name] = raw
  }
  return found as Declares
}

function overLimit(path: string, error: TreeError): Fault {
  return new Fault(422, 'InvalidFragment', `${path} cannot declare items of these types: ${error.message}`)
}

/** Declarations of some kinds of a stored document: data that are stored once have no absence. */
export function rewrittenDeclarations(declares: Declares, kinds: readonly KindName[]): Record<string, string> {
  return Object.fromEntries(kinds.map(name => [name, JSON.stringify(declares[name] ?? null)]))
}

/** Paths of the documents that hold items of some types. */
export async function holdersOf(store: Pick<SiteStore, 'lookup'>, types: Iterable<string>): Promise<Set<string>> {
  const paths = new Set<string>()
  for (const type of types) for (const { path } of await store.lookup([typeKey(type)])) paths.add(path)
  return paths
}
