/** DELETE: a file, a collection with everything below it, or an element of a document (DAV-45, DAV-46). */

import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { absent } from '../../pipeline/refusals.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import { depthOf, type Exchange } from '../exchange.ts'
import { withLocks } from '../locks/after-commit.ts'
import { checkLocks } from '../locks/guard.ts'
import { checkMembers } from '../places/members.ts'
import { isCollection } from '../places/place.ts'
import { writeElements } from './elements.ts'

export async function remove(exchange: Exchange): Promise<Answer> {
  const { mount, path, author } = exchange
  checkWritable(author.scope, path)
  if (header(exchange, 'range') !== undefined) return writeElements(exchange, 'delete')
  const node = await mount.view.find(path)
  if (!node) throw absent()
  await checkConditions(exchange, node)
  if (isCollection(node)) {
    if (node.resource.path === '/') throw rootRefused()
    depthOf(exchange, ['infinity'], 'infinity')
  }
  // A refusal by a lock names its path.
  await checkMembers(exchange, node)
  await checkLocks(exchange, node.resource.path, 'subtree')
  await withLocks(mount, leave =>
    node.place.remove(exchange, node, async () => {
      await exchange.lookAgain()
      await checkConditions(exchange, await mount.view.find(path))
      await checkMembers(exchange, node)
      leave(await checkLocks(exchange, node.resource.path, 'subtree'))
    }),
  )
  return { status: 204, headers: { 'Cache-Control': 'no-store' } }
}

export function rootRefused(): Fault {
  return new Fault(403, 'Forbidden', 'The root of the mount can be neither deleted nor replaced.')
}
