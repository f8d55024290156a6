/** Gates that the writes of the mount share: scope, what may not be touched, locks, and the parent (DAV-13, DAV-44). */

import type { Lock } from '../../pipeline/coordination/locks.ts'
import { isReserved } from '../../pipeline/http/path.ts'
import { parentMissing } from '../../pipeline/write/places.ts'
import type { Exchange } from '../exchange.ts'
import { parentOf } from '../places/overlay.ts'
import { isCollection } from '../places/place.ts'
import { type GuardedChange, guardLocks } from './locks-in-force.ts'

export function isServerOwned({ mount }: Pick<Exchange, 'mount'>, path: string): boolean {
  return isReserved(path, mount.settings.brand)
}

/**
 * @returns locks that end when what is at the path goes
 * @throws Fault 423 when a lock is in the way whose token the request does not submit
 */
export function checkLocks(
  { mount, author, submitted }: Exchange,
  path: string,
  kind: GuardedChange['kind'],
  ownLocksPass = false,
): Promise<Lock[]> {
  return guardLocks(mount.locks, {
    site: mount.site.store.name,
    path,
    user: author.user,
    submitted,
    kind,
    ownLocksPass,
    opens: author.scope.covers,
  })
}

/**
 * Something new at a path needs its collection.
 *
 * @throws Fault 409 `ParentDirectoryMissing`
 */
export async function requireParent({ mount }: Exchange, path: string): Promise<void> {
  const parent = parentOf(path)
  const node = await mount.view.find(parent)
  if (!node || !isCollection(node)) throw parentMissing(parent)
}
