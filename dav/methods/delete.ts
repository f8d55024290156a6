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
import { requireSamePlace } from '../places/as-found.ts'
import { checkMembers } from '../places/members.ts'
import { isCollection } from '../places/place.ts'
import { writeElements } from './elements.ts'

export async function remove(exchange: Exchange): Promise<Answer> {
  checkWritable(exchange.author.scope, exchange.path)
  if (header(exchange, 'range') !== undefined) return writeElements(exchange, 'delete')
  return removeWhole(exchange)
}

async function removeWhole(exchange: Exchange): Promise<Answer> {
  const { mount, path } = exchange
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
      const now = await mount.view.find(path)
      await checkConditions(exchange, now)
      requireSamePlace(node, now)
      await checkMembers(exchange, node)
      leave(await checkLocks(exchange, node.resource.path, 'subtree'))
    }),
  )
  return { status: 204, headers: { 'Cache-Control': 'no-store' } }
}

export function rootRefused(): Fault {
  return new Fault(403, 'Forbidden', 'The root of the mount can be neither deleted nor replaced.')
}
