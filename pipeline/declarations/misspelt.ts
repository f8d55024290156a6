/**
 * Item types that are nearly those that declare something. Taken by the letter they are the site's own (SEC-8), and whatever
 * their author meant to declare has no effect.
 */

import { isNear } from '../model/doubts.ts'
import type { Registry } from '../model/registry.ts'
import { shown } from '../model/violations.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { CONFIGURATION_NAMES } from '../tree/microdata-value.ts'
import type { Counts } from './limited.ts'

/** Types of one document that are looked at. */
const MOST = 100

/** Names of settings where an example was copied, and the vocabulary that examples are written with. */
const COPIED = /^(?:\{(?:ns|schema_?host)\}|https?:\/\/platform\.example\/ns)\//i

/** Names so short that others are near to them by chance. */
const SHORT = 5

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

function meantBy(type: string, { ns, schemaHost }: Vocabulary): string | undefined {
  const enumeration = `${schemaHost}/Enum`
  const primitive = below(schemaHost, type)
  if (primitive !== undefined) return isMeant(primitive, 'Enum') ? enumeration : undefined
  const name = (below(ns, type) ?? belowCopied(type))?.replace(/^1\.0\//, '')
  if (name === undefined) return undefined
  if (isMeant(name, 'Enum')) return enumeration
  const exact = CONFIGURATION_NAMES.has(name) ? name : undefined
  const known = exact ?? [...CONFIGURATION_NAMES].find(each => isMeant(name, each))
  return known && `${ns}/${known}`
}

function isMeant(name: string, known: string): boolean {
  if (known.length > SHORT) return isNear(name, known)
  return name.toLowerCase().replace(/s$/, '') === known.toLowerCase()
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
