/** Where writes go: the collections on the way there, and what stands in the way. */

import { Fault } from '../fault.ts'
import type { Site } from '../site/site.ts'
import type { Change } from '../store/commit.ts'
import { parentOf } from '../store/paths.ts'
import type { SiteStore } from '../store/store.ts'

/** @returns changes that make the collections which are missing on the way to a path, the outermost first */
export async function missingParents(store: Pick<SiteStore, 'find'>, path: string): Promise<Change[]> {
  const missing: Change[] = []
  for (let parent = parentOf(path); !(await store.find(parent)); parent = parentOf(parent))
    missing.unshift({ op: 'collection', path: parent })
  return missing
}

/**
 * Makes the collections that are missing on the way to a path.
 *
 * @throws Fault 409 where a file stands in the way
 */
export async function ensureParents(site: Site, path: string): Promise<void> {
  const missing = await missingParents(site.store, path)
  if (missing.length === 0) return
  const result = await site.commit({ changes: missing })
  if (!result.ok && result.reason !== 'version') throw nameTaken()
}

export function parentMissing(parent: string): Fault {
  return new Fault(409, 'ParentDirectoryMissing', `The collection ${parent} does not exist.`)
}

/** A name is used once per collection: for a file, or for a collection. */
export function nameTaken(): Fault {
  return new Fault(409, 'Conflict', 'A directory and a file cannot have the same name. Choose another path.')
}

/** Something stands where a copy or move leads, and the request does not say that it may be replaced. */
export function mayNotReplace(): Fault {
  return new Fault(412, 'PreconditionFailed', 'Something is stored at the destination, and it may not be replaced.')
}
