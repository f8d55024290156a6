/** A schema as it governs instances: its own declarations and those of its parents put together (MOD-12, MOD-13). */

import { asciiLower, trimmed } from '../tree/ascii.ts'
import type { RawCode, RawDefault, RawMethod, RawProperty, RawSchema } from './declarations.ts'
import { CARDINALITIES } from './types.ts'

export interface Cardinality {
  least: 0 | 1
  most: 1 | typeof Number.POSITIVE_INFINITY
  /** As written; undefined when nothing usable was (MOD-20). */
  text: string | undefined
}

export interface Reference {
  type: string
  property: string
  /** `restrict` and `true` of MOD-52; anything else is `none`. */
  cascade: 'none' | 'restrict' | 'follow'
}

export interface SchemaProperty {
  name: string
  /** Place among all properties of the schema. */
  order: number
  /** URL of a primitive, an enumeration or a schema. */
  type: string | undefined
  cardinality: Cardinality
  default: RawDefault | undefined
  /** No two instances of one type share a value (MOD-40). */
  unique: boolean
  /** `broken` names nothing that could be referred to (MOD-50). */
  references: Reference | 'broken' | undefined
  /** Counted in these groups (MOD-80). */
  groups: ReadonlySet<string>
  validate: RawCode | undefined
  /** From leaf to root. */
  write: readonly RawCode[]
  /** From root to leaf. */
  read: readonly RawCode[]
  computed: RawCode | undefined
}

export interface GroupConstraint {
  group: string
  cardinality: Cardinality
  /** Names of properties. */
  members: ReadonlySet<string>
}

/** A method with the place of its schema in the chain: the nearer one wins, overloads are those of one schema. */
export interface LevelMethod {
  level: number
  method: RawMethod
}

export interface Schema {
  type: string
  /** Its own type, then those of its parents; the last may name no schema of the site. */
  chain: readonly string[]
  /** The parents go round in a circle (MOD-12), or have no end in sight. */
  cyclic: boolean
  properties: ReadonlyMap<string, SchemaProperty>
  /** Those that every item must have. */
  required: readonly SchemaProperty[]
  /** Those that items get which lack them: by a default, or as their key. */
  given: readonly SchemaProperty[]
  /** Those whose values a validator judges. */
  validated: readonly SchemaProperty[]
  /** Names of properties, sorted, by name of the composite group that makes them unique together (MOD-41). */
  composites: ReadonlyMap<string, readonly string[]>
  groups: readonly GroupConstraint[]
  /** From root to leaf. */
  validators: readonly RawCode[]
  /** Most derived declarations first. */
  methods: readonly RawMethod[]
  /** The same by their names in lower case. */
  methodsByName: ReadonlyMap<string, readonly LevelMethod[]>
  /** Names of methods without implementation, as they are written and in lower case. */
  unimplemented: { written: ReadonlySet<string>; lower: ReadonlySet<string> }
  /** The primary key (MOD-44). */
  key: SchemaProperty | undefined
}

/** Reads a cardinality (MOD-20): what is not recognised means `0..n`. */
export function cardinalityOf(text: string | undefined): Cardinality {
  const written = text !== undefined && CARDINALITIES.has(text) ? text : undefined
  return {
    least: written?.startsWith('1') ? 1 : 0,
    most: written?.endsWith('1') ? 1 : Number.POSITIVE_INFINITY,
    text: written,
  }
}

/**
 * Puts a chain of schemas together.
 *
 * @param levels declarations from leaf to root; the first wins
 * @param beyond type that ends the chain without being declared
 */
export function combine(levels: readonly RawSchema[], cyclic: boolean, beyond: string | undefined): Schema {
  const declared = new Map<string, RawProperty[]>()
  for (const level of levels) {
    for (const raw of firstOfEach(level.properties)) {
      const others = declared.get(raw.name)
      if (others) others.push(raw)
      else declared.set(raw.name, [raw])
    }
  }
  const properties = new Map([...declared].map(([name, all], order) => [name, propertyOf(name, order, all)]))
  const key = keyOf(levels, properties)
  const types = levels.map(level => level.type)
  const unimplemented = levels.flatMap(level => level.unimplemented ?? [])
  return {
    type: types[0] ?? '',
    chain: beyond === undefined ? types : [...types, beyond],
    cyclic,
    properties,
    required: [...properties.values()].filter(({ cardinality }) => cardinality.least > 0),
    given: [...properties.values()].filter(property => property.default !== undefined || property === key),
    validated: [...properties.values()].filter(({ validate }) => validate !== undefined),
    composites: compositesOf(levels),
    groups: groupsOf(levels, properties),
    validators: levels.flatMap(level => level.validate ?? []).reverse(),
    methods: levels.flatMap(level => level.methods),
    methodsByName: methodsByName(levels),
    unimplemented: { written: new Set(unimplemented), lower: new Set(unimplemented.map(asciiLower)) },
    key,
  }
}

/**
 * The properties of a schema that an item has, in the order of the schema: judging an item costs what it holds, however many
 * properties there could be.
 *
 * @param held by name
 */
export function propertiesAmong({ properties }: Schema, held: ReadonlyMap<string, unknown>): SchemaProperty[] {
  const found: SchemaProperty[] = []
  for (const name of held.keys()) {
    const property = properties.get(name)
    if (property) found.push(property)
  }
  return inOrder(found)
}

export function inOrder(properties: SchemaProperty[]): SchemaProperty[] {
  return properties.sort((a, b) => a.order - b.order)
}

/** Of equal names inside one schema the first wins (MOD-13). */
export function firstOfEach(properties: readonly RawProperty[]): RawProperty[] {
  const names = new Set<string>()
  return properties.filter(({ name }) => !names.has(name) && names.add(name))
}

function methodsByName(levels: readonly RawSchema[]): Map<string, LevelMethod[]> {
  const found = new Map<string, LevelMethod[]>()
  for (const [level, { methods }] of levels.entries()) {
    for (const method of methods) {
      const name = asciiLower(method.name)
      const others = found.get(name)
      if (others) others.push({ level, method })
      else found.set(name, [{ level, method }])
    }
  }
  return found
}

/** Properties that one schema alone declares, as the last one that has them got them: those that inherit them share one. */
const alone = new WeakMap<RawProperty, SchemaProperty>()

/** @param declared the declarations of one property, from leaf to root: the first wins */
function propertyOf(name: string, order: number, declared: readonly RawProperty[]): SchemaProperty {
  const [own, ...others] = declared
  const known = own && others.length === 0 ? alone.get(own) : undefined
  if (known?.order === order) return known
  const property = together(name, order, declared)
  if (own && others.length === 0) alone.set(own, property)
  return property
}

function together(name: string, order: number, declared: readonly RawProperty[]): SchemaProperty {
  const [own] = declared
  return {
    name,
    order,
    type: own?.type,
    cardinality: cardinalityOf(own?.cardinality),
    default: own?.default,
    unique: declared.some(({ unique }) => unique.includes('true')),
    references: own?.references === undefined ? undefined : referenceOf(own.references, own.cascade),
    groups: new Set(declared.flatMap(({ group }) => group)),
    validate: own?.validate,
    write: declared.flatMap(({ write }) => write ?? []),
    read: declared.flatMap(({ read }) => read ?? []).reverse(),
    computed: own?.computed,
  }
}

/** Reads what a property refers to (MOD-50). */
export function referenceOf(text: string, cascade: string | undefined): Reference | 'broken' {
  const hash = text.lastIndexOf('#')
  const type = trimmed(text.slice(0, Math.max(hash, 0)))
  const property = trimmed(text.slice(hash + 1))
  if (hash < 0 || type === '' || property === '') return 'broken'
  return { type, property, cascade: cascade === 'restrict' ? 'restrict' : cascade === 'true' ? 'follow' : 'none' }
}

/** `unique` is a union over all levels (MOD-13); a value other than `true` names a group. */
function compositesOf(levels: readonly RawSchema[]): Map<string, string[]> {
  const composites = new Map<string, Set<string>>()
  for (const level of levels) {
    for (const { name, unique } of firstOfEach(level.properties)) {
      for (const group of unique) {
        if (group === 'true') continue
        const members = composites.get(group)
        if (members) members.add(name)
        else composites.set(group, new Set([name]))
      }
    }
  }
  return new Map([...composites].map(([group, members]) => [group, [...members].sort()]))
}

/** The most derived constraint of each name, over the members of the whole chain (MOD-13, MOD-80). */
function groupsOf(levels: readonly RawSchema[], properties: ReadonlyMap<string, SchemaProperty>): GroupConstraint[] {
  const listing = new Map<string, string[]>()
  for (const { name, groups } of properties.values()) {
    for (const group of groups) {
      const names = listing.get(group)
      if (names) names.push(name)
      else listing.set(group, [name])
    }
  }
  const constraints = new Map<string, GroupConstraint>()
  for (const { constraints: declared } of levels) {
    for (const { group, cardinality, properties: named } of declared) {
      if (constraints.has(group)) continue
      const listed = listing.get(group) ?? []
      constraints.set(group, {
        group,
        cardinality: cardinalityOf(cardinality),
        members: new Set([...listed, ...named]),
      })
    }
  }
  return [...constraints.values()]
}

/** MOD-44: the first property marked as key that is unique by itself and not computed, own ones before the parents'. */
function keyOf(
  levels: readonly RawSchema[],
  properties: ReadonlyMap<string, SchemaProperty>,
): SchemaProperty | undefined {
  for (const level of levels) {
    for (const { name, key } of firstOfEach(level.properties)) {
      const property = properties.get(name)
      if (key && property?.unique && !property.computed) return property
    }
  }
  return undefined
}
