/** Which values of a tree go through read resolvers, and which of them can do so together (MOD-71, MOD-72). */

import type { Allowance } from '../language/allowance.ts'
import { typesOf } from '../tree/microdata.ts'
import { type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'
import { lookingThrough, type Steps } from '../tree/steps.ts'
import { findingItems, type ModelItem, readingItem } from './items.ts'
import type { Registry } from './registry.ts'
import type { Chain } from './resolvers.ts'
import { propertiesAmong, type Schema, type SchemaProperty } from './schema.ts'

/** A property of an item whose values are to be resolved. */
export interface PendingChain {
  element: ElementNode
  schema: Schema
  property: SchemaProperty
}

/** Whether values of items of a type are replaced in representations. */
export function hasResolvers(model: Registry, type: string): boolean {
  const schema = model.hasSchemas ? model.schema(type) : undefined
  return schema !== undefined && resolvedProperties(schema).length > 0
}

const known = new WeakMap<Schema, readonly SchemaProperty[]>()

function resolvedProperties(schema: Schema): readonly SchemaProperty[] {
  let properties = known.get(schema)
  if (!properties) {
    properties = schema.cyclic ? [] : [...schema.properties.values()].filter(({ read }) => read.length > 0)
    known.set(schema, properties)
  }
  return properties
}

/**
 * Everything to be resolved in a tree: of the properties that have resolvers, those that an item holds. Items inside of others
 * come first, so that resolvers of what is around are given what becomes of them.
 */
export function* findingChains(model: Registry, root: ParentNode): Steps<PendingChain[]> {
  const items: ElementNode[] = []
  yield* lookingThrough(yield* findingItems(root), element => {
    const types = typesOf(element)
    if (types.some(type => hasResolvers(model, type))) items.push(element)
    return types.length
  })
  const found: PendingChain[] = []
  for (const element of items.reverse()) {
    const item = yield* readingItem(element)
    for (const type of item.types) {
      yield
      const schema = model.schema(type)
      if (!schema || schema.cyclic) continue
      for (const property of propertiesAmong(schema, item.properties))
        if (property.read.length > 0) found.push({ element, schema, property })
    }
  }
  return found
}

/** Elements that one step pays for. */
const ELEMENTS_PER_STEP = 16

/**
 * Chains that have nothing to do with each other: no value of one is, holds or is inside of a value of another.
 *
 * @param pending in order; of those that touch each other the first goes first
 * @returns the chains, with values as they are now, and what is still pending; what has no values is left out
 */
export function* choosingChains(
  pending: readonly PendingChain[],
  allowance: Allowance,
): Steps<{ chains: Chain[]; rest: PendingChain[] }> {
  const chains: Chain[] = []
  const rest: PendingChain[] = []
  const items = new Map<ElementNode, ModelItem>()
  const taken = new Set<ParentNode>()
  const around = new Set<ParentNode>()
  for (const next of pending) {
    const { element, schema, property } = next
    let item = items.get(element)
    if (!item) {
      item = yield* readingItem(element)
      items.set(element, item)
      yield
    }
    const elements = item.properties.get(property.name)
    if (!elements) continue
    const ways = elements.map(wayUp)
    allowance.step(1 + ways.reduce((sum, way) => sum + way.length, 0) / ELEMENTS_PER_STEP)
    const isFree = ways.every((way, i) => {
      const own = elements[i]
      return own && !around.has(own) && !way.some(each => taken.has(each))
    })
    for (const own of elements) taken.add(own)
    for (const way of ways) for (const each of way) around.add(each)
    if (isFree) chains.push({ instance: { item, schemas: [schema] }, schema, property, elements })
    else rest.push(next)
  }
  return { chains, rest }
}

/** An element and all around it. */
function wayUp(element: ElementNode): ParentNode[] {
  const way: ParentNode[] = []
  for (let node: ParentNode | null = element; node; node = isElement(node) ? node.parentNode : null) way.push(node)
  return way
}
