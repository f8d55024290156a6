/** What a schema says that means nothing, or something else than its author may think: it is taken as if it were not there. */

import { mistakenPattern } from '../access/glob.ts'
import { isNear } from '../near.ts'
import { asciiLower } from '../tree/ascii.ts'
import { CONFIGURATION_NAMES } from '../tree/microdata-value.ts'
import { type Extensions, parseSelector } from '../tree/selector/selector.ts'
import type { RawProperty, RawSchema, RawShape } from './declarations.ts'
import { CARDINALITIES, PRIMITIVES } from './types.ts'
import { shown } from './violations.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Whether a site declares a schema or an enumeration of this URL. */
type Knows = (url: string) => boolean

/** Whether the values of a property are unique by themselves; undefined for a type without schema. */
type IsUnique = (type: string, property: string) => boolean | undefined

/** Declarations of one document, of each kind, that are looked at for its author, and selectors of its shapes. */
export const MOST_DOUBTED = 1000

/**
 * @param knows asked about the site as it stands, as is the next
 * @returns one sentence for each
 */
export function doubtsAbout(
  schema: RawSchema,
  vocabulary: Vocabulary,
  knows: Knows,
  isUnique: IsUnique = () => undefined,
): string[] {
  return [
    ...parent(schema, vocabulary, knows),
    ...names(schema, vocabulary),
    ...schema.properties.flatMap(property => {
      const place = `the property ${shown(property.name)} of ${shown(schema.type)}`
      return [
        ...cardinality(property.cardinality),
        ...type(property, vocabulary, knows),
        ...uniqueness(property),
        ...key(schema, property, isUnique),
        ...reference(property, isUnique),
      ].map(doubt => `${place}: ${doubt}`)
    }),
    ...schema.constraints.flatMap(group =>
      cardinality(group.cardinality).map(doubt => `the group ${shown(group.group)} of ${shown(schema.type)}: ${doubt}`),
    ),
  ]
}

/**
 * Shapes of one document that select nothing, or ask for nothing: they let everything pass (MOD-90). Of their patterns and
 * selectors so many are looked at, in one turn.
 */
export function doubtsAboutShapes(shapes: readonly RawShape[], extensions: Extensions | undefined): string[] {
  let left = MOST_DOUBTED
  const first = (texts: readonly string[]) => {
    const some = texts.slice(0, left)
    left -= some.length
    return some
  }
  const unread = (texts: readonly string[]) =>
    first(texts)
      .filter(text => !parseSelector(text, extensions))
      .map(shown)
  return shapes.slice(0, MOST_DOUBTED).flatMap(shape => [
    ...first(shape.resources).flatMap(text => {
      const mistaken = mistakenPattern(text)
      return mistaken ? [`the resource ${shown(text)} of a shape ${mistaken}`] : []
    }),
    ...unread(shape.selectors).map(text => `the selector ${text} of a shape does not parse: it selects nothing`),
    ...unread(shape.constraints).map(text => `the constraint ${text} of a shape does not parse: it asks for nothing`),
    ...unread(shape.permits).map(text => `the permit ${text} of a shape does not parse: it permits nothing`),
  ])
}

function parent({ type, parent: named }: RawSchema, { ns }: Vocabulary, knows: Knows): string[] {
  if (named === undefined || knows(named)) return []
  const own = named.startsWith(`${ns}/`) ? named.slice(ns.length + 1) : ''
  if (own === 'Instance' || own === 'Map' || CONFIGURATION_NAMES.has(own)) return []
  return [`the schema of ${shown(type)}: its parent ${shown(named)} is declared nowhere, so that it inherits nothing`]
}

/** Names by which nothing is found. */
function* names({ type, parent: named, properties, methods }: RawSchema, { ns }: Vocabulary): Generator<string> {
  const place = `the schema of ${shown(type)}`
  if (/[\t\n\f\r ]/.test(type)) yield `${place}: its type holds white space, so that no item has it`
  const seen = new Set<string>()
  for (const { name } of properties) {
    if (/[\t\n\f\r ]/.test(name))
      yield `${place}: the property ${shown(name)} holds white space, so that no element has it`
    if (seen.has(name)) yield `${place}: the property ${shown(name)} is declared twice: the first counts`
    seen.add(name)
  }
  if (named !== `${ns}/Group` || methods.some(({ name }) => name === 'includes')) return
  for (const { name } of methods)
    if (isNear(name, 'includes'))
      yield `${place}: the method ${shown(name)} decides about no group; did you mean includes?`
}

/** What people write for true and false. */
const FLAGS = new Set('true false yes no on off 1 0 unique'.split(' '))

/** MOD-41: any other value than `true` names a group, `false` as well. */
function uniqueness({ unique }: RawProperty): string[] {
  const strange = unique.filter(each => each !== 'true' && (FLAGS.has(asciiLower(each)) || isNear(each, 'true')))
  return strange.map(each => `its unique ${shown(each)} names a group of properties, and counts only as true by itself`)
}

/** MOD-44. */
function key(schema: RawSchema, { name, key: isKey }: RawProperty, isUnique: IsUnique): string[] {
  return isKey && isUnique(schema.type, name) === false ? ['it is no key, since it is not unique by itself'] : []
}

/** MOD-50, MOD-52. */
function reference({ references, cascade }: RawProperty, isUnique: IsUnique): string[] {
  if (references === undefined) return cascade === undefined ? [] : ['its cascade means nothing without references']
  const doubts =
    cascade === undefined || ['true', 'restrict', 'false'].includes(cascade)
      ? []
      : [`the cascade ${shown(cascade)} is none of true, restrict, false: nothing follows`]
  const at = references.lastIndexOf('#')
  const [type, property] = [references.slice(0, Math.max(at, 0)), references.slice(at + 1)]
  const told = shown(references)
  if (type === '' || property === '')
    return [...doubts, `its reference ${told} names no item type and property, so that its items are refused`]
  const unique = isUnique(type, property)
  if (unique) return doubts
  return [
    ...doubts,
    unique === undefined
      ? `it refers to ${told}, and no schema declares that type, so that it finds nothing`
      : `it refers to ${told}, which is not unique, so that its items are refused`,
  ]
}

function cardinality(written: string | undefined): string[] {
  if (written === undefined || CARDINALITIES.has(written)) return []
  return [`the cardinality ${shown(written)} is none of ${[...CARDINALITIES].join(', ')}; any number is taken`]
}

/** Types of items that nobody declares are as good as any; what looks like a misspelt name of a built-in one is told. */
function type({ type }: RawProperty, { schemaHost }: Vocabulary, knows: Knows): string[] {
  if (type === undefined || knows(type)) return []
  const name = type.startsWith(`${schemaHost}/`) ? type.slice(schemaHost.length + 1) : type
  if (name !== type && PRIMITIVES.has(name)) return []
  const meant = PRIMITIVES.has(name) ? name : [...PRIMITIVES.keys()].find(known => isNear(name, known))
  if (meant === undefined && type.includes(':')) return []
  const hint = meant === undefined ? '' : `; did you mean ${schemaHost}/${meant}?`
  return [`the type ${shown(type)} is not known, so that values are not checked${hint}`]
}
