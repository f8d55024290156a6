/** Writes of properties (RFC 4918 §9.2): they change neither bytes nor version of a resource, and send no event. */

import { absent } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import type { Change } from '../store/commit.ts'
import type { Property, Resource } from '../store/resource.ts'

export interface PropertyPatch {
  set: readonly Property[]
  remove: readonly Pick<Property, 'namespace' | 'name'>[]
  /** Unix seconds. */
  shown?: number
  /** Empty to remove it. */
  language?: string
}

/**
 * Changes the dead properties, the shown time and the language of a resource.
 *
 * @param path of a file, or of a collection with its slash
 * @returns the new state
 * @throws Fault 404 when the resource is gone
 */
export async function writeProperties(site: Site, path: string, patch: PropertyPatch): Promise<Resource | undefined> {
  const result = await site.commit({ changes: [describeChange(path, patch)] })
  if (!result.ok) throw absent()
  return result.resources.get(path)
}

export function describeChange(path: string, { set, remove, ...rest }: PropertyPatch): Change {
  return { op: 'describe', path, set: [...set], remove: [...remove], ...rest }
}
