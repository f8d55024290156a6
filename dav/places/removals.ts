/**
 * Removals that are put off: an editor that saves renames the document to a backup name before it writes the new one.
 * The mount shows it gone at once; visitors go on seeing it for some seconds, so that they never miss it (DAV-72).
 */

import { fullAuthority } from '../../pipeline/authority.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { perform } from '../../pipeline/operation.ts'
import type { StoredFile } from '../../pipeline/site/stored-file.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { deleteDocument } from '../../pipeline/write/document.ts'
import { mayConfigureBy, unpublishedPut } from '../../pipeline/write/unpublished.ts'
import type { Exchange } from '../exchange.ts'
import type { Mount } from '../mount.ts'

/** Stored type of a mark; no request can send one without a slash. */
const REMOVAL = 'removal'

/** Whether what lies over a path marks it as gone. */
export function isRemoval({ type }: Resource): boolean {
  return type === REMOVAL
}

/** Shows a file of the site as gone from now on. */
export async function putOffRemoval({ mount, configure }: Pick<Exchange, 'mount' | 'configure'>, path: string) {
  await mount.unpublished.commit(unpublishedPut({ path, content: new Uint8Array(), type: REMOVAL, configure }))
}

/**
 * Carries out a removal, unless something was written to the path meanwhile. What the pipeline refuses to remove comes
 * back into view.
 */
export async function finishRemoval(mount: Mount, mark: Resource): Promise<void> {
  const { path, version } = mark
  const check = (file: StoredFile | undefined) => {
    // What is newer than the mark has replaced the document, which is all that was to happen.
    if ((file && file.resource.version > version) || !mount.unpublished.stands(mark))
      throw new Fault(412, 'PreconditionFailed', 'The document was written again in the meantime.')
  }
  const configure = await mayConfigureBy(mount.unpublished.site, path)
  const write = { path, conditions: undefined, check, cause: {}, configure }
  const removal = deleteDocument(mount.site, write, () => fullAuthority)
  await unlessRefused(perform(removal, NO_BODY))
  await mount.unpublished.commit([{ op: 'delete', path, expect: version }])
}

/** Waits for work that may be refused; only failures of the server are told. */
export async function unlessRefused(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Fault) || error.status >= 500) throw error
  }
}
