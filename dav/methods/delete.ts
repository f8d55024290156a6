/** DELETE: a file, a collection with everything below it, or an element of a document (DAV-45, DAV-46). */

import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { perform } from '../../pipeline/operation.ts'
import { absent } from '../../pipeline/refusals.ts'
import { removeTree } from '../../pipeline/write/collection.ts'
import { deleteDocument } from '../../pipeline/write/document.ts'
import { checkWritable, scopeAuthority } from '../access/scope-authority.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import { depthOf, type Exchange } from '../exchange.ts'
import { afterCommit, endLocks } from '../locks/after-commit.ts'
import { checkLocks } from '../locks/guard.ts'
import { checkMembers } from '../places/members.ts'
import { isCollection, type Node } from '../places/view.ts'
import { writeElements } from './elements.ts'

export async function remove(exchange: Exchange): Promise<Answer> {
  const { mount, path, author } = exchange
  checkWritable(author.scope, path)
  if (header(exchange, 'range') !== undefined) return writeElements(exchange, 'delete')
  const node = await mount.view.find(path)
  if (!node) throw absent()
  checkConditions(exchange, node)
  if (isCollection(node)) {
    if (node.resource.path === '/') throw rootRefused()
    depthOf(exchange, ['infinity'], 'infinity')
  }
  let gone = await checkLocks(exchange, node.resource.path, 'subtree')
  await checkMembers(exchange, node)
  await removeNode(exchange, node, async () => {
    checkConditions(exchange, await mount.view.find(path))
    gone = await checkLocks(exchange, node.resource.path, 'subtree')
  })
  await endLocks(mount, gone)
  return { status: 204, headers: { 'Cache-Control': 'no-store' } }
}

export function rootRefused(): Fault {
  return new Fault(403, 'Forbidden', 'The root of the mount can be neither deleted nor replaced.')
}

/**
 * Removes a resource from wherever it is kept, with drafts and helper files below it (DAV-62, DAV-73).
 *
 * @param check made under the lease of the path; it throws what the removal is refused with
 */
export async function removeNode(exchange: Exchange, node: Node, check?: () => Promise<void>): Promise<void> {
  const { mount, author, raw, allowance } = exchange
  const { path } = node.resource
  const { site, unpublished } = mount
  const removeBeside = (remove: () => Promise<unknown>) =>
    site.leases.hold(site.store.name, [path], async () => {
      await check?.()
      await remove()
    })
  if (node.keeper === 'helper') {
    await removeBeside(() => unpublished.commit([{ op: 'delete', path }]))
  } else if (isCollection(node)) {
    await removeTree(site, { path, cause: {}, raw, allowance, ...(check && { check }) })
    await afterCommit(mount, () => unpublished.remove(path))
  } else if (node.keeper === 'site' || node.published) {
    const authority = scopeAuthority(author.scope)
    const write = { path, conditions: undefined, cause: {}, raw, allowance, ...(check && { check }) }
    await perform(
      deleteDocument(site, write, () => authority),
      NO_BODY,
    )
    if (node.keeper === 'draft') await afterCommit(mount, () => unpublished.remove(path))
  } else await removeBeside(() => unpublished.remove(path))
}
