/** Collections that a write makes on its way (DAV-14). */

import { Fault } from '../pipeline/fault.ts'
import { parentOf } from './overlay.ts'
import { isCollection, type View } from './view.ts'

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
    if (standing && !isCollection(standing))
      throw new Fault(409, 'Conflict', 'A directory and a file cannot have the same name. Choose another path.')
    topmost = parent
  }
  return topmost
}
