/** Drafts: empty files that wait for their content, alone or over a published document (DAV-60 to DAV-62). */

import { describeChange, writeProperties } from '../../pipeline/write/properties.ts'
import { afterCommit } from '../locks/after-commit.ts'
import { keyOf } from '../properties/property-name.ts'
import { isCollection, type Place, type Stored } from './place.ts'
import { relocateOnSite, removeFile } from './site-place.ts'
import { describeUnpublished, removing, toHelperName, transferring } from './unpublished-changes.ts'

/** A draft over a published document, which keeps its properties meanwhile; the times of the draft are its own. */
export const coveringDraft: Place = {
  isPublished: false,
  isHelper: false,
  isEmpty: true,
  isNew: false,
  partOf: ({ unpublished }) => unpublished.site,
  propertiesIn: ({ site }) => site,
  async describe({ site, unpublished }, path, { set, remove, ...own }) {
    if (set.length + remove.length > 0) await writeProperties(site, path, { set, remove })
    await unpublished.commit([describeChange(path, { set: [], remove: [], ...own })])
  },
  remove: (exchange, { resource: { path } }, check) => removeFile(exchange, path, check),
  relocate(exchange, relocation) {
    return relocation.toHelper ? toHelperName(exchange, relocation) : relocateOnSite(exchange, relocation)
  },
}

/** A draft over nothing. */
export const newDraft: Place = {
  isPublished: false,
  isHelper: false,
  isEmpty: true,
  isNew: true,
  partOf: ({ unpublished }) => unpublished.site,
  propertiesIn: ({ unpublished }) => unpublished.site,
  describe: describeUnpublished,
  remove: (exchange, { resource: { path } }, check) =>
    removing(exchange, path, check, () => exchange.mount.unpublished.remove(path)),
  /** Under another name it stays an empty file that was never published. */
  async relocate(exchange, relocation) {
    const { toHelper, replaced, check } = relocation
    if (toHelper) return toHelperName(exchange, relocation)
    if (replaced && isCollection(replaced)) await replaced.place.remove(exchange, replaced, check)
    const { mount } = exchange
    const covered = replaced && !isCollection(replaced) && replaced.place.propertiesIn(mount) === mount.site
    await transferring(exchange, relocation, async () => {
      if (covered) await afterCommit(mount, () => describeAs(mount, replaced.resource.path))
    })
    return replaced !== undefined
  },
}

/**
 * Gives a published document, which keeps them while a draft covers it, the dead properties of that draft (DAV-34), as they
 * came along.
 */
async function describeAs({ site, unpublished }: Stored, path: string): Promise<void> {
  const set = await unpublished.site.store.properties(path)
  const kept = new Set(set.map(keyOf))
  const remove = (await site.store.properties(path)).filter(property => !kept.has(keyOf(property)))
  if (set.length + remove.length > 0) await writeProperties(site, path, { set, remove })
}
