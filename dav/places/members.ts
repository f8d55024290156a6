/** Members that go along when a request is about a whole collection: one that may not refuses the whole (DAV-8). */

import { LONGEST_PATH, overlongMember } from '../../pipeline/http/path.ts'
import { checkWritable } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { isCollection, type Node } from './place.ts'

/**
 * Looks at members only where there is something to find: with credentials that open a part of the site, and where they
 * are carried one by one to longer paths. What goes along within one part of the store is measured by the commit.
 *
 * @param to where the collection goes; without it, it is removed
 * @throws Fault 403 for a member that the credential does not open, here or there (DAV-3); it tells nothing of it. 414
 *   for one that would come to a path that no request can name (DAV-10)
 */
export async function checkMembers({ mount, author }: Exchange, node: Node, to?: string): Promise<void> {
  if (!isCollection(node)) return
  const { path: from } = node.resource
  const { scope } = author
  const isCarried = to !== undefined && (await mount.view.isHelper(to)) !== node.place.isHelper
  const gain = isCarried ? Buffer.byteLength(to) - Buffer.byteLength(from) : 0
  const isOpen = scope.coversBelow(from) && (to === undefined || scope.coversBelow(to))
  if (isOpen && gain <= 0) return
  // What is unpublished below a collection of the site goes along with it.
  for (const { store } of [mount.site, mount.unpublished.site])
    for await (const { path } of store.walk(from, { collections: true })) {
      if (!isOpen) checkWritable(scope, path, to === undefined ? path : to + path.slice(from.length))
      if (Buffer.byteLength(path) + gain > LONGEST_PATH) throw overlongMember(path)
    }
}
