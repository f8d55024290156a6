/** What the site itself keeps. Every change goes through the pipeline; drafts and helper files go along. */

import { NO_BODY } from '../../pipeline/body.ts'
import { perform } from '../../pipeline/operation.ts'
import type { Beside } from '../../pipeline/site/commit-row.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { removeTree, transferTree } from '../../pipeline/write/collection.ts'
import type { Alongside } from '../../pipeline/write/commit.ts'
import { deleteDocument } from '../../pipeline/write/document.ts'
import { writeProperties } from '../../pipeline/write/properties.ts'
import { scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { endOutdated } from './drafts.ts'
import { isCollection, type Place, type Relocation } from './place.ts'
import type { Followed } from './unpublished.ts'
import { anewBy, toHelperName } from './unpublished-changes.ts'

export const sitePlace: Place = {
  isPublished: true,
  isHelper: false,
  isEmpty: false,
  isNew: false,
  partOf: ({ site }) => site,
  propertiesIn: ({ site }) => site,
  describe: ({ site }, path, patch) => writeProperties(site, path, patch),
  async remove(exchange, node, check) {
    const { mount, raw, configure, allowance } = exchange
    const { path } = node.resource
    if (!isCollection(node)) return removeFile(exchange, path, check)
    const { alongside, look } = following(exchange, { op: 'remove', path })
    const checkAll = async () => {
      await check?.()
      await look()
    }
    await removeTree(mount.site, { path, cause: {}, raw, configure, allowance, alongside, check: checkAll })
  },
  relocate(exchange, relocation) {
    return relocation.toHelper ? toHelperName(exchange, relocation) : relocateOnSite(exchange, relocation)
  },
}

/** Removes a file of the site, with a draft over it. */
export async function removeFile(exchange: Exchange, path: string, check?: Relocation['check']): Promise<void> {
  const { mount, author, raw, configure, allowance } = exchange
  const authority = scopeAuthority(author.scope)
  const { alongside, look } = following(exchange, { op: 'remove', path })
  const write = {
    path,
    conditions: undefined,
    cause: {},
    raw,
    configure,
    allowance,
    alongside,
    async check() {
      await check?.()
      await look()
    },
  }
  await perform(
    deleteDocument(mount.site, write, () => authority),
    NO_BODY,
  )
}

/** From the site to the site. @returns whether something that was shown there was replaced */
export async function relocateOnSite(exchange: Exchange, relocation: Relocation): Promise<boolean> {
  const { mount, raw, configure, allowance } = exchange
  const { op, source, to, deep, overwrite, check, replaced: before } = relocation
  const { path: from } = source.resource
  const { site, unpublished } = mount
  const { alongside, look } = following(exchange, { op, from, to, deep, anew: anewBy(exchange) })
  const checkAll = async () => {
    await check()
    await endOutdated(mount, from)
    unpublished.overlay.endCopy(to)
    await look()
  }
  let wasGone = false
  const isGone = (standing: Resource) => {
    wasGone = unpublished.isGone(standing)
    return wasGone
  }
  const transfer = { op, from, to, deep, overwrite, isGone, check: checkAll, cause: {} }
  const transferred = transferTree(site, { ...transfer, raw, configure, allowance, alongside })
  const { replaced } = await transferred.finally(() => unpublished.overlay.endCopy(to))
  return (replaced !== undefined && !wasGone) || before?.place.isPublished === false
}

/**
 * Drafts and helper files go with what happens on the site in the same commit (DAV-8).
 *
 * @returns what is stored with that of the site, and what to call under the leases of the paths: it finds what is to go along
 */
function following(
  { mount, alongside }: Exchange,
  followed: Followed,
): { alongside: Alongside; look: () => Promise<void> } {
  let beside: Beside | undefined
  return {
    alongside: {
      notes: () => alongside?.notes() ?? [],
      stored: notes => alongside?.stored(notes),
      beside: () => beside,
    },
    async look() {
      beside = await mount.unpublished.following(followed)
    },
  }
}
