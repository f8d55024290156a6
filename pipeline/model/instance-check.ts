/** Judges single items by their schemas: cardinality, types and enumerations (MOD-22 to MOD-28), groups (MOD-80). */

import { typesOf } from '../tree/microdata.ts'
import { type ElementNode, isElement } from '../tree/nodes.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import { isItem, type ModelItem, type ReadValue, readingItem } from './items.ts'
import { touching, type WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import {
  type Cardinality,
  type GroupConstraint,
  inOrder,
  propertiesAmong,
  type Schema,
  type SchemaProperty,
} from './schema.ts'
import { PRIMITIVES } from './types.ts'
import { LISTED, type SchemaViolation, shown } from './violations.ts'

/** An item with the schemas that govern it. */
export interface Instance {
  item: ModelItem
  schemas: readonly Schema[]
}

/** Instances that are looked at in one step. */
export const INSTANCES_PER_STEP = 50

/** MOD-111: governed items of the new content and around the change. */
export function* findingInstances(registry: Registry, place: WrittenPlace): Steps<Instance[]> {
  const instances: Instance[] = []
  if (!registry.hasSchemas) return instances
  const { around, content } = yield* touching(place)
  for (const elements of [around, content]) {
    for (const [i, element] of elements.entries()) {
      if (i % INSTANCES_PER_STEP === 0) yield
      const instance = isItem(element) && (yield* governing(registry, element))
      if (instance) instances.push(instance)
    }
  }
  return instances
}

export function instanceOf(registry: Registry, element: ElementNode): Instance | undefined {
  return atOnce(governing(registry, element))
}

/** In steps: an item may have thousands of types, each with a schema that has much of its parents. */
function* governing(registry: Registry, element: ElementNode): Steps<Instance | undefined> {
  const item = yield* readingItem(element)
  const schemas: Schema[] = []
  for (const type of item.types) {
    const schema = registry.schema(type)
    if (!schema) continue
    schemas.push(schema)
    if (schemas.length > 1) yield
  }
  return schemas.length > 0 ? { item, schemas } : undefined
}

/** Properties and values that are looked at in one step. */
const CHECKS_PER_STEP = 500

/** Step 3 of MOD-112: failures of cardinality, types and enumerations, as many as an answer lists. */
export function* checkingValues(
  registry: Registry,
  instances: readonly Instance[],
  read: ReadValue,
): Steps<SchemaViolation[]> {
  const wrong: SchemaViolation[] = []
  const broken = new Map<Schema, SchemaViolation[]>()
  let seen = 0
  for (const [i, { item, schemas }] of instances.entries()) {
    if (i % INSTANCES_PER_STEP === 0) yield
    for (const schema of schemas) {
      let unusable = broken.get(schema)
      if (!unusable) broken.set(schema, (unusable = brokenSchema(registry, schema)))
      if (unusable.length > 0) {
        wrong.push(...unusable.slice(0, LISTED - wrong.length))
        if (wrong.length === LISTED) return wrong
        continue
      }
      const lacking = schema.required.filter(({ name }) => !item.properties.has(name))
      seen += schema.required.length
      for (const property of inOrder([...propertiesAmong(schema, item.properties), ...lacking])) {
        for (const violation of checkProperty(registry, schema, property, item, read)) {
          if (violation === 'pause' || ++seen >= CHECKS_PER_STEP) {
            seen = 0
            yield
          }
          if (violation && violation !== 'pause') wrong.push(violation)
          if (wrong.length === LISTED) return wrong
        }
      }
    }
  }
  return wrong
}

/** Types of a chain that an answer names. */
const SHOWN = 20

/** MOD-12 and MOD-50. */
function brokenSchema(registry: Registry, schema: Schema): SchemaViolation[] {
  const { type: itemtype } = schema
  if (schema.cyclic) {
    const reason = `the schema's parents go round in a circle, are too many, or have too much: ${schema.chain.slice(0, SHOWN).join(' → ')} → …`
    return [{ check: 'schema', itemtype, reason }]
  }
  return [...schema.properties.values()].flatMap(({ name, references }): SchemaViolation[] => {
    if (!references) return []
    const fail = (reason: string): SchemaViolation[] => [{ check: 'schema', itemtype, property: name, reason }]
    if (references === 'broken') return fail('its reference names no item type and property')
    if (registry.isUnique(references.type, references.property) !== false) return []
    return fail(`it refers to ${references.type}#${references.property}, which is not unique`)
  })
}

/** @returns what is wrong with a property; undefined between for each thing that was looked at and is right */
function* checkProperty(
  registry: Registry,
  schema: Schema,
  { name, cardinality, type }: SchemaProperty,
  item: ModelItem,
  read: ReadValue,
): Generator<SchemaViolation | 'pause' | undefined> {
  const elements = item.properties.get(name) ?? []
  const place = { itemtype: schema.type, property: name }
  const count = elements.length
  yield fits(count, cardinality)
    ? undefined
    : { check: 'cardinality', ...place, reason: countReason(count, cardinality) }
  if (type === undefined) return
  for (const element of elements) {
    // Values in each other hold the same nodes once more each.
    if (element.childNodes.some(isElement)) yield 'pause'
    const found = checkValue(registry, type, element, read(element, item))
    yield found && { ...place, ...found, reason: found.reason + adviceOnTemplates(schema.type, found.value) }
  }
}

/** Templates are text when a page is made of them, and markup where they are stored (COMP-35). */
function adviceOnTemplates(itemtype: string, value = ''): string {
  if (!/\{[{%]/.test(value)) return ''
  return `; a template is judged as it is stored: write itemtype="{{ '${shown(itemtype)}' }}", and only what it makes is an item`
}

/** Permitted values, or members of a group, that one sentence tells: an answer has a hundred such sentences. */
const MOST_TOLD = 200

function toldOf(names: ReadonlySet<string>, told = shown): string {
  const first = names.values().take(MOST_TOLD).map(told).toArray().join(', ')
  return names.size <= MOST_TOLD ? first : `${first} and ${names.size - MOST_TOLD} more`
}

function fits(count: number, { least, most }: Cardinality): boolean {
  return count >= least && count <= most
}

function countReason(count: number, { least, most, text }: Cardinality): string {
  const expected = least === most ? 'exactly 1 value' : most === 1 ? 'at most 1 value' : 'at least 1 value'
  return `cardinality ${text} violated: expected ${expected}, found ${count}`
}

/**
 * @param value text of the element, undefined for a nested item
 * @returns what is wrong with it; a site's enumerations and schemas come before primitive types of the same URL (MOD-6)
 */
function checkValue(
  registry: Registry,
  type: string,
  element: ElementNode,
  value: string | undefined,
): Pick<SchemaViolation, 'check' | 'value' | 'reason'> | undefined {
  const told = value === undefined ? 'an item' : `'${shown(value)}'`
  const carried = value === undefined ? {} : { value }
  const permitted = registry.enumeration(type)
  if (permitted) {
    if (value !== undefined && permitted.has(value)) return undefined
    const list = toldOf(permitted, each => `'${shown(each)}'`)
    return { check: 'enum', ...carried, reason: `${told} is not one of the permitted values: ${list || 'none'}` }
  }
  if (registry.schema(type)) {
    if (value === undefined && typesOf(element).some(own => registry.isa(own, type))) return undefined
    return { check: 'type', ...carried, reason: `${told} is no item of type ${type}` }
  }
  const { schemaHost } = registry.vocabulary
  const test = type.startsWith(`${schemaHost}/`) ? PRIMITIVES.get(type.slice(schemaHost.length + 1)) : undefined
  if (!test || (value !== undefined && test(value))) return undefined
  return { check: 'type', ...carried, reason: `${told} is no ${type.slice(schemaHost.length + 1)}` }
}

/** Step 6 of MOD-112. */
export function* checkingGroups(instances: readonly Instance[]): Steps<SchemaViolation[]> {
  const wrong: SchemaViolation[] = []
  let seen = 0
  for (const [i, { item, schemas }] of instances.entries()) {
    if (i % INSTANCES_PER_STEP === 0) yield
    for (const { type, groups } of schemas) {
      for (const group of groups) {
        seen += 1 + Math.min(item.properties.size, group.members.size)
        if (seen >= CHECKS_PER_STEP) {
          seen = 0
          yield
        }
        const reason = checkGroup(item, group)
        if (reason !== undefined) wrong.push({ check: 'group', itemtype: type, reason })
        if (wrong.length === LISTED) return wrong
      }
    }
  }
  return wrong
}

/** MOD-80: how many members of a group are present. @returns what is wrong */
function checkGroup({ properties }: ModelItem, { group, cardinality, members }: GroupConstraint): string | undefined {
  const present =
    properties.size < members.size
      ? [...properties.keys()].filter(name => members.has(name)).length
      : [...members].filter(name => properties.has(name)).length
  if (fits(present, cardinality)) return undefined
  const found = present === 0 ? 'none' : toldOf(new Set([...members].filter(name => properties.has(name))))
  const all = toldOf(members) || 'no members'
  return `group '${group}' constraint violated: of ${all} ${expectedMembers(cardinality)} must be there, found ${found}`
}

function expectedMembers({ least, most }: Cardinality): string {
  return least === most ? 'exactly 1' : most === 1 ? 'at most 1' : 'at least 1'
}
