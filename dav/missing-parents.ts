/** Collections that a write makes on its way (DAV-14). */

import { parentOf } from './overlay.ts'
import type { View } from './view.ts'

/**
 * @returns the topmost path that does not exist yet on the way to a new file: the file itself, or the first of the
 *   collections that will be made for it. Whoever guards membership there is asked
 */
export async function topmostMissing(view: View, path: string): Promise<string> {
  let topmost = path
  for (let parent = parentOf(path); parent !== '/' && parent !== ''; parent = parentOf(parent)) {
    if (await view.find(parent)) break
    topmost = parent
  }
  return topmost
}
