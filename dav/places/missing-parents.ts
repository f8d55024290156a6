/** Collections that a write makes on its way (DAV-14). */

import { nameTaken } from '../../pipeline/write/places.ts'
import type { Mount } from '../mount.ts'
import { parentOf } from './overlay.ts'
import { isCollection } from './place.ts'
import { finishRemoval, isRemoval } from './removals.ts'
import type { View } from './view.ts'

/**
 * @returns the topmost path that does not exist yet on the way to a new file: the file itself, or the first of the
 *   collections that will be made for it. Whoever guards membership there is asked
 * @throws Fault 409 where a file stands in the way; of drafts and helper files the site itself knows nothing
 */
export async function topmostMissing(view: View, path: string): Promise<string> {
  let topmost = path
  for (let parent = parentOf(path); parent !== '/' && parent !== ''; parent = parentOf(parent)) {
    if (await view.find(parent)) break
    const standing = await view.find(parent.slice(0, -1))
    if (standing && !isCollection(standing)) throw nameTaken()
    topmost = parent
  }
  return topmost
}

/**
 * Where a collection is to be made in the place of a file that is gone from the mount, visitors cannot go on seeing the
 * file: its removal is not put off any longer (DAV-72).
 */
export async function clearWay(mount: Mount, path: string): Promise<void> {
  for (let parent = parentOf(path); parent !== '/' && parent !== ''; parent = parentOf(parent)) {
    if (await mount.view.find(parent)) return
    const mark = mount.unpublished.coverAt(parent.slice(0, -1))
    if (mark && isRemoval(mark)) await finishRemoval(mount, mark)
  }
}
