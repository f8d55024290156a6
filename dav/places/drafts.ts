/** Drafts: empty HTML and XML files that wait for their content, seen by nobody but the mount (DAV-60 to DAV-62). */

import { NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { perform } from '../../pipeline/operation.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { ensureParents } from '../../pipeline/write/places.ts'
import { unpublishedPut } from '../../pipeline/write/unpublished.ts'
import { checkWritable, scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import type { Mount } from '../mount.ts'
import { finishRemoval } from './removals.ts'

const NOTHING = new Uint8Array()

/** What a draft remembers of the request that made it. */
export interface DraftFacts {
  type: string
  language?: string | undefined
  /** Unix seconds. */
  shown?: number | undefined
}

/**
 * Stores a draft, or renews it.
 *
 * @returns its state
 */
export async function storeDraft(mount: Mount, path: string, facts: DraftFacts): Promise<Resource | undefined> {
  await ensureParents(mount.site, path)
  const { type, language, shown } = facts
  const resources = await mount.unpublished.commit(
    unpublishedPut({
      path,
      content: NOTHING,
      type,
      ...(language !== undefined && { language }),
      ...(shown !== undefined && { shown }),
    }),
  )
  return resources?.get(path)
}

/** Ends a draft whose content has come, or the mark of a removal that something has replaced. */
export async function endCover(mount: Mount, { path, version }: Resource): Promise<void> {
  await mount.unpublished.commit([{ op: 'delete', path, expect: version }])
}

/**
 * Makes the empty resource that LOCK on an unmapped path promises (DAV-81): a draft, a helper file, or an empty blob.
 *
 * @throws Fault 412 when something was made there in the meantime, or what scope and pipeline refuse it with
 */
export async function makeEmpty({ mount, author, path }: Exchange): Promise<void> {
  checkWritable(author.scope, path)
  if (await mount.view.find(path))
    throw new Fault(412, 'PreconditionFailed', 'Something was made at this address in the meantime.')
  const type = storedType(path, undefined)
  if (await mount.view.isHelper(path)) {
    await mount.unpublished.commit(unpublishedPut({ path, content: NOTHING, type }))
  } else if (kindOf(type) !== 'blob') {
    await storeDraft(mount, path, { type })
  } else {
    const authority = scopeAuthority(author.scope)
    const mark = mount.unpublished.coverAt(path)
    if (mark) await finishRemoval(mount, mark)
    // What a visitor stored in the meantime must not be emptied.
    const write = { path, type, conditions: { ifNoneMatch: '*' as const }, cause: {} }
    await perform(
      putDocument(mount.site, write, () => authority),
      NO_BODY,
    )
  }
}
