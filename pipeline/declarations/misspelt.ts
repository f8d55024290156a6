/**
 * Item types that are nearly those that declare something, or stand where no item is. Taken by the letter they are the site's own (SEC-8), and whatever
 * their author meant to declare has no effect.
 */

import type { Registry } from '../model/registry.ts'
import { shown } from '../model/violations.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { isMeant as isMeantBy } from '../near.ts'
import { CONFIGURATION_NAMES } from '../tree/microdata-value.ts'
import type { Slips } from './fields.ts'
import type { Counts } from './limited.ts'

/** Types of one document that are looked at. */
const MOST = 100

/** Names of settings where an example was copied, and the vocabulary that examples are written with. */
const COPIED = /^(?:\{(?:ns|schema_?host)\}|https?:\/\/platform\.example\/ns)\//i

/** What is to be known of a site for it. */
interface Declaring {
  settings: Vocabulary
  counts: Counts
  model: Pick<Registry, 'schema'>
}

/**
 * @param types item types of the document at a path
 * @returns one sentence for each that seems to be meant as another; what a schema governs is meant as it is
 */
export function misspelt({ settings, counts, model }: Declaring, path: string, types: readonly string[]): string[] {
  if (!counts(path)) return []
  return types.slice(0, MOST).flatMap(type => {
    const meant = meantBy(type, settings)
    return meant === undefined || meant === type || model.schema(type)
      ? []
      : [`items of the type ${shown(type)} declare nothing; did you mean ${meant}?`]
  })
}

/**
 * What is said of the fields of a document, and of elements that have a type and are no items.
 *
 * @returns one sentence for each slip; a field that a schema declares of the item is meant as it is
 */
export function toldSlips({ settings, counts, model }: Declaring, path: string, { bare, fields }: Slips): string[] {
  if (!counts(path)) return []
  const unscoped = bare.flatMap(type => {
    const meant = meantBy(type, settings)
    if (meant === undefined) return []
    const hint = meant === type ? '' : `; did you mean ${meant}?`
    return [`an element of the type ${shown(type)} has no itemscope, so that it declares nothing${hint}`]
  })
  const strange = fields.filter(({ types, field }) => !types.some(type => model.schema(type)?.properties.has(field)))
  return [...unscoped, ...strange.map(({ place, reason }) => `${place}: ${reason}`)]
}

/** Whether a type is one of declarations, or nearly one. */
export function isMeant(type: string, settings: Vocabulary): boolean {
  return meantBy(type, settings) !== undefined
}

function meantBy(type: string, { ns, schemaHost }: Vocabulary): string | undefined {
  const enumeration = `${schemaHost}/Enum`
  const primitive = below(schemaHost, type)
  if (primitive !== undefined) return isMeantBy(primitive, 'Enum') ? enumeration : undefined
  const name = (below(ns, type) ?? belowCopied(type))?.replace(/^1\.0\//, '')
  if (name === undefined) return undefined
  if (isMeantBy(name, 'Enum')) return enumeration
  const exact = CONFIGURATION_NAMES.has(name) ? name : undefined
  const known = exact ?? [...CONFIGURATION_NAMES].find(each => isMeantBy(name, each))
  return known && `${ns}/${known}`
}

/** The rest of a type that begins with an address, whatever its scheme and letters. */
function below(address: string, type: string): string | undefined {
  const bare = (url: string) => url.replace(/^https?:\/+/i, '')
  const [start, written] = [`${bare(address)}/`, bare(type)]
  return written.slice(0, start.length).toLowerCase() === start.toLowerCase() ? written.slice(start.length) : undefined
}

function belowCopied(type: string): string | undefined {
  const start = COPIED.exec(type)?.[0]
  return start && type.slice(start.length)
}
