/** Values that others refer to and that a write takes away or changes (MOD-52, MOD-53, MOD-55). */

import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { mapping, type Steps } from '../tree/steps.ts'
import { findingItems, isItem, type ModelItem, readingItem, valueReader } from './items.ts'
import type { Registry } from './registry.ts'

/** A value that an item of a type no longer has in a document. */
export interface Loss {
  type: string
  property: string
  value: string
  /** What the same item has instead (MOD-55). */
  to?: string
}

/** The values of guarded properties, by type and property. */
export type Holdings = ReadonlyMap<string, ReadonlySet<string>>

const keyOf = (type: string, property: string) => `${type}\0${property}`

/** Items, or values, that are looked at in one step. */
const ITEMS_PER_STEP = 50

/** Values that are put into a set in one step. */
const VALUES_PER_STEP = 1000

/** What one item holds of properties that are guarded, by type and property. */
export type ReferredValues = ReadonlyMap<string, { type: string; property: string; values: readonly string[] }>

export const NOTHING_HELD: ReferredValues = new Map()

/** @returns what an element holds, in steps; nothing when it is no item */
export function* findingHeld(
  registry: Registry,
  element: ElementNode,
  read = valueReader(registry.vocabulary.ns),
): Steps<ReferredValues> {
  if (!isItem(element)) return NOTHING_HELD
  const item = yield* readingItem(element)
  const held = new Map<string, { type: string; property: string; values: readonly string[] }>()
  const guarding = typesGuarding(registry, item)
  for (const [property, elements] of guarding.size > 0 ? item.properties : []) {
    const types = guarding.get(property)
    if (!types) continue
    const values: string[] = []
    for (const value of yield* mapping(elements, each => read(each, item))) if (value) values.push(value)
    for (const type of types) held.set(keyOf(type, property), { type, property, values })
  }
  return held
}

/**
 * Types of an item by those of its properties that they guard. It may have thousands of types and of names, of which nobody
 * has declared anything, and its types may declare nearly only what it lacks.
 */
function typesGuarding(registry: Registry, { types, properties }: ModelItem): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const type of types) {
    for (const names of registry.guardedOf(type)) {
      const [few, many] = names.size < properties.size ? [names, properties] : [properties, names]
      for (const property of few.keys()) if (many.has(property)) put(found, property, type)
    }
  }
  return found
}

function put(found: Map<string, Set<string>>, property: string, type: string): void {
  const known = found.get(property)
  if (known) known.add(type)
  else found.set(property, new Set([type]))
}

/** What a document holds, as HTML has its items or as pages show them (COMP-6). */
export function* findingHoldings(registry: Registry, document: TreeDocument | undefined): Steps<Holdings> {
  const holdings = new Map<string, Set<string>>()
  if (!document || !registry.hasGuarded) return holdings
  let seen = 0
  for (const reading of new Set([document, yield* readingAsWritten(document)]))
    for (const held of yield* listingHeld(registry, reading))
      for (const [key, { values }] of held) {
        const known = holdings.get(key) ?? new Set()
        for (const value of values) {
          if (++seen % VALUES_PER_STEP === 0) yield
          known.add(value)
        }
        holdings.set(key, known)
      }
  return holdings
}

/** What the items of one reading of a document hold. */
export function* listingHeld(registry: Registry, document: TreeDocument): Steps<ReferredValues[]> {
  const read = valueReader(registry.vocabulary.ns)
  const list: ReferredValues[] = []
  for (const element of yield* findingItems(document.root)) {
    // One may have thousands of types and of names.
    yield
    const held = yield* findingHeld(registry, element, read)
    if (held.size > 0) list.push(held)
  }
  return list
}

/** An item before and after a write. */
export type Pair = readonly [before: ReferredValues, after: ReferredValues]

/** What was held and is no more. */
export function* findingLosses(before: Holdings, after: Holdings): Steps<Loss[]> {
  const losses: Loss[] = []
  let seen = 0
  for (const [key, values] of before) {
    const [type = '', property = ''] = key.split('\0')
    for (const value of values) {
      if (++seen % ITEMS_PER_STEP === 0) yield
      if (!after.get(key)?.has(value)) losses.push({ type, property, value })
    }
  }
  return losses
}

/** What a whole document holds no more. */
export function* comparingDocuments(
  registry: Registry,
  before: TreeDocument | undefined,
  after: TreeDocument | undefined,
): Steps<Loss[]> {
  const held = yield* findingHoldings(registry, before)
  if (held.size === 0) return []
  const losses = yield* findingLosses(held, yield* findingHoldings(registry, after))
  if (losses.length === 0 || !before || !after) return losses
  const pairs = yield* pairingItems(registry, before, after)
  const [old, now] = [yield* readingAsWritten(before), yield* readingAsWritten(after)]
  const shown = old === before && now === after ? [] : yield* pairingItems(registry, old, now)
  return yield* tracing(losses, [...pairs, ...shown])
}

/**
 * Tells values that have changed from those that have disappeared (MOD-55): the same item has one of a property no more,
 * and one that it did not have.
 *
 * @param pairs items that are the same before and after
 */
export function* tracing(losses: readonly Loss[], pairs: readonly Pair[]): Steps<Loss[]> {
  const changes = new Map<string, string>()
  const lossKey = ({ type, property, value }: Loss) => `${keyOf(type, property)}\0${value}`
  let seen = 0
  for (const [before, after] of pairs) {
    if (++seen % ITEMS_PER_STEP === 0) yield
    for (const name of (before.size < after.size ? before : after).keys()) {
      if (++seen % ITEMS_PER_STEP === 0) yield
      const [old, now] = [before.get(name), after.get(name)]
      if (!old || !now) continue
      const { type, property, values } = old
      const [value, to] = yield* findingExchange(values, now.values)
      if (value === undefined || to === undefined) continue
      const key = lossKey({ type, property, value })
      if (!changes.has(key)) changes.set(key, to)
    }
  }
  return yield* mapping(losses, loss => {
    const to = changes.get(lossKey(loss))
    return to === undefined ? loss : { ...loss, to }
  })
}

function* findingExchange(before: readonly string[], after: readonly string[]): Steps<readonly [string, string] | []> {
  const [gone, ...othersGone] = yield* withoutThose(before, after)
  const [come, ...othersCome] = yield* withoutThose(after, before)
  const isOne = othersGone.length + othersCome.length === 0
  return isOne && gone !== undefined && come !== undefined ? [gone, come] : []
}

function* withoutThose(values: readonly string[], others: readonly string[]): Steps<string[]> {
  const among = new Set<string>()
  for (const [i, other] of others.entries()) {
    if (i % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield
    among.add(other)
  }
  const left: string[] = []
  for (const [i, value] of values.entries()) {
    if (i % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield
    if (!among.has(value)) left.push(value)
  }
  return left
}

/** Items of whole documents that are the same: those of equal key, else the only one of a type on both sides (MOD-55). */
export function* pairingItems(registry: Registry, before: TreeDocument, after: TreeDocument): Steps<Pair[]> {
  const pairs: Pair[] = []
  /** Items of many types that are the same by several of them are a pair once. */
  const known = new Map<ReferredValues, Set<ReferredValues>>()
  const old = yield* identifying(registry, before)
  const now = yield* identifying(registry, after)
  for (const [type, items] of old) {
    const others = now.get(type) ?? []
    const byKey = new Map<string, Identified>()
    for (const other of others) if (other.key && !byKey.has(other.key)) byKey.set(other.key, other)
    for (const item of items) {
      const same = item.key ? byKey.get(item.key) : undefined
      const other = same ?? (items.length === 1 && others.length === 1 ? others[0] : undefined)
      if (!other) continue
      const partners = known.get(item.held) ?? new Set()
      if (partners.has(other.held)) continue
      known.set(item.held, partners.add(other.held))
      pairs.push([item.held, other.held])
    }
    yield
  }
  return pairs
}

interface Identified {
  key: string | undefined
  held: ReferredValues
}

function* identifying(registry: Registry, document: TreeDocument): Steps<Map<string, Identified[]>> {
  const read = valueReader(registry.vocabulary.ns)
  const found = new Map<string, Identified[]>()
  for (const element of yield* findingItems(document.root)) {
    yield
    const item = yield* readingItem(element)
    const types = item.types.filter(type => registry.guardedOf(type).length > 0)
    if (types.length === 0) continue
    const held = yield* findingHeld(registry, element, read)
    for (const type of new Set(types)) {
      yield
      const name = registry.schema(type)?.key?.name
      const [first] = name === undefined ? [] : (item.properties.get(name) ?? [])
      const key = first && read(first, item)
      const list = found.get(type)
      if (list) list.push({ key, held })
      else found.set(type, [{ key, held }])
    }
  }
  return found
}
