/** What a schema says that means nothing, or something else than its author may think: it is taken as if it were not there. */

import type { RawProperty, RawSchema } from './declarations.ts'
import { CARDINALITIES, PRIMITIVES } from './types.ts'
import { shown } from './violations.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Whether a site declares a schema or an enumeration of this URL. */
type Knows = (url: string) => boolean

/**
 * @param knows asked about the site as it stands
 * @returns one sentence for each
 */
export function doubtsAbout(schema: RawSchema, vocabulary: Vocabulary, knows: Knows): string[] {
  return [
    ...schema.properties.flatMap(property => {
      const place = `the property ${shown(property.name)} of ${shown(schema.type)}`
      return [...cardinality(property.cardinality), ...type(property, vocabulary, knows)].map(
        doubt => `${place}: ${doubt}`,
      )
    }),
    ...schema.constraints.flatMap(group =>
      cardinality(group.cardinality).map(doubt => `the group ${shown(group.group)} of ${shown(schema.type)}: ${doubt}`),
    ),
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

/** Whether two words are the same but for case and for one letter that is missing, too much or another. */
export function isNear(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  const longest = Math.max(a.length, b.length)
  if (Math.abs(a.length - b.length) > 1) return false
  let before = 0
  while (before < longest && a[before] === b[before]) before++
  let behind = 0
  while (behind < longest - before && a.at(-1 - behind) === b.at(-1 - behind)) behind++
  return before + behind >= longest - 1
}
