/** Writes of properties (RFC 4918 §9.2): they change neither bytes nor version of a resource, and send no event. */

import { Fault } from './fault.ts'
import type { Site } from './site.ts'
import type { Property, Resource } from './store/store.ts'

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
 * @param admit is given the dead properties as they stand, while no other write can come between; it throws a Fault to
 *   refuse
 * @returns the new state
 * @throws Fault 404 when the resource is gone
 */
export async function writeProperties(
  site: Site,
  path: string,
  patch: PropertyPatch,
  admit: (properties: readonly Property[]) => void = () => undefined,
): Promise<Resource | undefined> {
  return site.leases.hold(site.store.name, [path], async () => {
    admit(await site.store.properties(path))
    const { set, remove, ...rest } = patch
    const result = await site.commit({
      changes: [{ op: 'describe', path, set: [...set], remove: [...remove], ...rest }],
    })
    if (!result.ok) throw new Fault(404, 'NotFound', 'Nothing is stored at this address.')
    return result.resources.get(path)
  })
}
