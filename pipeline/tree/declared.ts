/** What schemas declare of items, for those who read them: items have that as it stands in them, as schemas judge it (MOD-11). */

import { lookingThrough, type Steps } from './steps.ts'

/** The schemas of a site. */
export interface Declared {
  schema(type: string): { readonly properties: ReadonlyMap<string, unknown> } | undefined
}

/** Names of the properties that the schemas of an item declare, in steps: it may have thousands of types. */
export function* declaredNames(types: readonly string[], schemas: Declared): Steps<ReadonlySet<string>> {
  const names = new Set<string>()
  yield* lookingThrough(types, type => {
    const properties = schemas.schema(type)?.properties
    for (const name of properties?.keys() ?? []) names.add(name)
    return properties?.size ?? 0
  })
  return names
}
