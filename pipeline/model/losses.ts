/** Values that others refer to and that a write takes away or changes (MOD-52, MOD-53, MOD-55). */

import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { isItem, itemElements, readItem, valueReader } from './items.ts'
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

/** What one item holds. */
export type Held = readonly { type: string; property: string; values: readonly string[] }[]

/** @returns what an element holds; nothing when it is no item */
export function heldBy(registry: Registry, element: ElementNode, read = valueReader(registry.vocabulary.ns)): Held {
  if (!isItem(element)) return []
  const item = readItem(element)
  return item.types.flatMap(type =>
    [...(registry.guarded.get(type) ?? [])].map(property => ({
      type,
      property,
      values: (item.properties.get(property) ?? []).flatMap(value => read(value, item) || []),
    })),
  )
}

/** @returns what a document holds */
export function holdingsOf(registry: Registry, document: TreeDocument | undefined): Holdings {
  const holdings = new Map<string, Set<string>>()
  if (!document || registry.guarded.size === 0) return holdings
  const read = valueReader(registry.vocabulary.ns)
  for (const element of itemElements(document.root)) {
    for (const { type, property, values } of heldBy(registry, element, read)) {
      const key = keyOf(type, property)
      const known = holdings.get(key) ?? new Set()
      for (const value of values) known.add(value)
      holdings.set(key, known)
    }
  }
  return holdings
}

/** An item before and after a write. */
export type Pair = readonly [before: Held, after: Held]

/**
 * What a document holds no more.
 *
 * @param pairs items that are the same before and after; where one has another value instead, the value has changed
 */
export function lossesBetween(before: Holdings, after: Holdings, pairs: readonly Pair[]): Loss[] {
  const losses: Loss[] = []
  for (const [key, values] of before) {
    const [type = '', property = ''] = key.split('\0')
    for (const value of values) {
      if (after.get(key)?.has(value)) continue
      const to = changeOf(type, property, value, pairs)
      losses.push({ type, property, value, ...(to !== undefined && { to }) })
    }
  }
  return losses
}

function changeOf(type: string, property: string, value: string, pairs: readonly Pair[]): string | undefined {
  const find = (held: Held) => held.find(each => each.type === type && each.property === property)?.values
  for (const [before, after] of pairs) {
    const [old, now] = [find(before), find(after)]
    if (!old?.includes(value) || !now) continue
    const gone = old.filter(each => !now.includes(each))
    const come = now.filter(each => !old.includes(each))
    if (gone.length === 1 && come.length === 1) return come[0]
  }
  return undefined
}

/** Items of whole documents that are the same: those of equal key, else the only one of a type on both sides (MOD-55). */
export function pairItems(
  registry: Registry,
  before: TreeDocument | undefined,
  after: TreeDocument | undefined,
): Pair[] {
  if (!before || !after || registry.guarded.size === 0) return []
  const pairs: Pair[] = []
  const [old, now] = [identities(registry, before), identities(registry, after)]
  for (const [type, items] of old) {
    const others = now.get(type) ?? []
    for (const item of items) {
      const same = item.key ? others.find(({ key }) => key === item.key) : undefined
      const other = same ?? (items.length === 1 && others.length === 1 ? others[0] : undefined)
      if (other) pairs.push([item.held, other.held])
    }
  }
  return pairs
}

interface Identified {
  key: string | undefined
  held: Held
}

function identities(registry: Registry, document: TreeDocument): Map<string, Identified[]> {
  const read = valueReader(registry.vocabulary.ns)
  const found = new Map<string, Identified[]>()
  for (const element of itemElements(document.root)) {
    const held = heldBy(registry, element, read)
    if (held.length === 0) continue
    const item = readItem(element)
    for (const type of new Set(held.map(each => each.type))) {
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
