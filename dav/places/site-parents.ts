/** Collections of the site that hold what is kept beside it: drafts and helper files. */

import type { Change, Expectation } from '../../pipeline/store/commit.ts'
import { stateOf } from '../../pipeline/write/collection.ts'
import { parentMissing } from '../../pipeline/write/places.ts'
import type { Mount } from '../mount.ts'
import { parentOf } from './overlay.ts'

/**
 * Asked when something has just been stored unpublished: its collection is looked for when it is there. The commit that takes a
 * collection of the site away takes along what is kept beside it by then, so that whichever of the two comes first, the other
 * one sees it.
 *
 * @param takeBack undoes it, if what stands at the path is as expected
 * @param isFirst nothing stood there before. What has been replaced cannot come back, and the new stays where looking fails
 * @throws Fault 409 `ParentDirectoryMissing` when it was taken back; what looking has failed with, when that was tried
 */
export async function requireSiteParent(
  { site, unpublished }: Pick<Mount, 'site' | 'unpublished'>,
  path: string,
  takeBack: (expect: Expectation) => Change,
  isFirst = true,
): Promise<void> {
  const parent = await site.store.find(parentOf(path)).then(
    found => ({ isThere: found !== undefined }),
    (error: unknown) => ({ isThere: false, error }),
  )
  if (parent.isThere) return
  if ('error' in parent && !isFirst) throw parent.error
  const stored = await unpublished.site.store.find(path)
  const expect = stored && stateOf(stored)
  // Where it cannot be taken back, somebody has taken it along, or away: it came before that.
  const isTakenBack = expect !== undefined && (await unpublished.commit([takeBack(expect)])) !== undefined
  if ('error' in parent) throw parent.error
  if (isTakenBack) throw parentMissing(parentOf(path))
}
