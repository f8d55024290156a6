/** Judges single items by their schemas: cardinality, types and enumerations (MOD-22 to MOD-28), groups (MOD-80). */

import type { ElementNode } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'
import { isItem, type ModelItem, type ReadValue, readItem } from './items.ts'
import { touching, type WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import type { Cardinality, Schema, SchemaProperty } from './schema.ts'
import { PRIMITIVES } from './types.ts'
import { type SchemaViolation, shown } from './violations.ts'

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
      const instance = isItem(element) && instanceOf(registry, element)
      if (instance) instances.push(instance)
    }
  }
  return instances
}

export function instanceOf(registry: Registry, element: ElementNode): Instance | undefined {
  const item = readItem(element)
  const schemas = item.types.flatMap(type => registry.schema(type) ?? [])
  return schemas.length > 0 ? { item, schemas } : undefined
}

/** Step 3 of MOD-112: every failure of cardinality, types and enumerations. */
export function* checkingValues(
  registry: Registry,
  instances: readonly Instance[],
  read: ReadValue,
): Steps<SchemaViolation[]> {
  const wrong: SchemaViolation[] = []
  for (const [i, instance] of instances.entries()) {
    if (i % INSTANCES_PER_STEP === 0) yield
    for (const violation of checkValues(registry, instance, read)) wrong.push(violation)
  }
  return wrong
}

/** Cardinality, types and enumerations of one instance, and whether its schemas can be used at all. */
function checkValues(registry: Registry, { item, schemas }: Instance, read: ReadValue): SchemaViolation[] {
  return schemas.flatMap(schema => {
    const broken = brokenSchema(registry, schema)
    if (broken.length > 0) return broken
    return [...schema.properties.values()].flatMap(property => checkProperty(registry, schema, property, item, read))
  })
}

/** Types of a chain that an answer names. */
const SHOWN = 20

/** MOD-12 and MOD-50. */
function brokenSchema(registry: Registry, schema: Schema): SchemaViolation[] {
  const { type: itemtype } = schema
  if (schema.cyclic) {
    const reason = `the schema's parents go round in a circle, or are too many: ${schema.chain.slice(0, SHOWN).join(' → ')} → …`
    return [{ check: 'schema', itemtype, reason }]
  }
  return [...schema.properties.values()].flatMap(({ name, references }): SchemaViolation[] => {
    if (!references) return []
    const fail = (reason: string): SchemaViolation[] => [{ check: 'schema', itemtype, property: name, reason }]
    if (references === 'broken') return fail('its reference names no item type and property')
    const target = registry.schema(references.type)
    if (!target || target.properties.get(references.property)?.unique) return []
    return fail(`it refers to ${references.type}#${references.property}, which is not unique`)
  })
}

function checkProperty(
  registry: Registry,
  schema: Schema,
  property: SchemaProperty,
  item: ModelItem,
  read: ReadValue,
): SchemaViolation[] {
  const { name, cardinality } = property
  const elements = item.properties.get(name) ?? []
  const place = { itemtype: schema.type, property: name }
  const violations: SchemaViolation[] = []
  const count = elements.length
  if (!fits(count, cardinality))
    violations.push({ check: 'cardinality', ...place, reason: countReason(count, cardinality) })
  if (property.type === undefined) return violations
  for (const element of elements) {
    const found = checkValue(registry, property.type, element, read(element, item))
    if (found) violations.push({ ...found, ...place })
  }
  return violations
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
    if (value !== undefined && permitted.includes(value)) return undefined
    const list = permitted.map(each => `'${shown(each)}'`).join(', ')
    return { check: 'enum', ...carried, reason: `${told} is not one of the permitted values: ${list || 'none'}` }
  }
  if (registry.schema(type)) {
    if (value === undefined && readItem(element).types.some(own => registry.isa(own, type))) return undefined
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
  for (const [i, instance] of instances.entries()) {
    if (i % INSTANCES_PER_STEP === 0) yield
    wrong.push(...checkGroups(instance))
  }
  return wrong
}

/** MOD-80: how many members of each group are present. */
function checkGroups({ item, schemas }: Instance): SchemaViolation[] {
  return schemas.flatMap(schema =>
    schema.groups.flatMap(({ group, cardinality, members }): SchemaViolation[] => {
      const present = members.filter(name => item.properties.has(name))
      if (fits(present.length, cardinality)) return []
      const found = present.length === 0 ? 'none' : present.join(', ')
      const reason = `group '${group}' constraint violated: of ${members.join(', ') || 'no members'} ${expectedMembers(cardinality)} must be there, found ${found}`
      return [{ check: 'group', itemtype: schema.type, reason }]
    }),
  )
}

function expectedMembers({ least, most }: Cardinality): string {
  return least === most ? 'exactly 1' : most === 1 ? 'at most 1' : 'at least 1'
}
