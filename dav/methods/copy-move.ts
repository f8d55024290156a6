/** COPY and MOVE of files and collections (RFC 4918 §9.8 and §9.9, DAV-48). */

import { mayOverwrite } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { type Lock, lockKey } from '../../pipeline/coordination/locks.ts'
import { Fault } from '../../pipeline/fault.ts'
import { absent } from '../../pipeline/refusals.ts'
import { contentTag } from '../../pipeline/store/tags.ts'
import { atOneMoment } from '../../pipeline/write/one-moment.ts'
import { mayNotReplace } from '../../pipeline/write/places.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { visible } from '../access/visibility.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import { depthOf, type Exchange } from '../exchange.ts'
import { withLocks } from '../locks/after-commit.ts'
import { checkLocks, requireParent } from '../locks/guard.ts'
import { requireSamePlace } from '../places/as-found.ts'
import { checkMembers } from '../places/members.ts'
import { isCollection, type Node } from '../places/place.ts'
import { destinationOf } from '../requests/destination.ts'
import { rootRefused } from './delete.ts'
import { moveElement, movesElement } from './elements.ts'

export async function copy(exchange: Exchange): Promise<Answer> {
  return relocate(exchange, 'copy')
}

export async function move(exchange: Exchange): Promise<Answer> {
  if (movesElement(exchange)) return moveElement(exchange, destinationOf(exchange))
  return relocate(exchange, 'move')
}

/** What is found at both ends before anything is done. */
interface Ends {
  source: Node
  to: string
  deep: boolean
  replaced: Node | undefined
  gone: Map<string, Lock>
}

async function relocate(exchange: Exchange, op: 'copy' | 'move'): Promise<Answer> {
  const { mount, path } = exchange
  const destination = transferTo(exchange, op)
  const paths = [path, destination]
  const ends = await atOneMoment(mount.site, paths, () => findEnds(exchange, op, destination))
  const { source, to, deep, replaced, gone } = ends
  const from = source.resource.path
  const overwrite = mayOverwrite(exchange)
  const isReplaced = await withLocks(mount, async leave => {
    let lookAgain: Exchange['lookAgain'] | undefined = exchange.lookAgain
    let mayStand = overwrite
    const check = async () => {
      await lookAgain?.()
      // A collection that is replaced goes first, by this request's own hand.
      if (replaced && isCollection(replaced)) lookAgain = undefined
      const found = await mount.view.find(from)
      await checkConditions(exchange, found)
      requireSamePlace(source, found)
      const now = await standing(exchange, to)
      if (now && !mayStand) throw mayNotReplace()
      // From here on it may be this request's own.
      mayStand = true
      await checkAll(exchange, op, ends, now)
      leave([...gone.values()])
    }
    const toHelper = await mount.view.isHelper(to)
    const relocation = { op, source, to, toHelper, deep, replaced, overwrite, check }
    const isReplaced = await source.place.relocate(exchange, relocation)
    leave([...gone.values()])
    return isReplaced
  })
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
  if (!isCollection(source)) headers.ETag = contentTag(source.resource.digest)
  return isReplaced ? { status: 204, headers } : { status: 201, headers, body: '' }
}

/** Where a COPY or MOVE of a whole goes. @throws Fault as `destinationOf`, 400 with a range, 403 outside of the scope */
export function transferTo(exchange: Exchange, op: 'copy' | 'move'): string {
  const { path, author } = exchange
  const destination = destinationOf(exchange)
  // What is meant for an element must not be done to the whole (HTTP-46).
  if (movesElement(exchange))
    throw new Fault(400, 'InvalidRange', 'COPY takes whole files and collections, and no Range.')
  checkWritable(author.scope, ...(op === 'move' ? [path, destination] : [destination]))
  return destination
}

async function findEnds(exchange: Exchange, op: 'copy' | 'move', destination: string): Promise<Ends> {
  const { mount, path, author } = exchange
  const source = visible(exchange, await mount.view.find(path))
  if (!source) throw absent()
  // One that only leads to what is open is seen, and no more.
  if (isCollection(source)) checkWritable(author.scope, source.resource.path)
  const deep = isDeep(exchange, source, op)
  const to = toForm(destination, isCollection(source))
  // A file has no slash, whatever was asked: the scope may open the collection of this name alone.
  checkWritable(author.scope, to)
  checkPlaces(source.resource.path, to, op)
  await checkConditions(exchange, source)
  const replaced = await standing(exchange, to)
  if (replaced && !mayOverwrite(exchange)) throw mayNotReplace()
  const ends = { source, to, deep, replaced, gone: new Map() }
  await checkAll(exchange, op, ends, replaced)
  await requireParent(exchange, to)
  return ends
}

async function checkAll(exchange: Exchange, op: 'copy' | 'move', ends: Ends, standingThere: Node | undefined) {
  const { source, to, deep, gone } = ends
  // A refusal by a lock names its path.
  if (deep) await checkMembers(exchange, source, to)
  if (standingThere) await checkMembers(exchange, standingThere)
  for (const lock of await checkTransferLocks(exchange, op, source.resource.path, to, standingThere))
    gone.set(lock.token, lock)
}

/** Whether the members go along; a file has none, whatever `Depth` says. */
function isDeep(exchange: Exchange, source: Node, op: 'copy' | 'move'): boolean {
  if (!isCollection(source)) return true
  if (op === 'move') return depthOf(exchange, ['infinity'], 'infinity') === 'infinity'
  return depthOf<'0' | 'infinity'>(exchange, ['0', 'infinity'], 'infinity') === 'infinity'
}

/** Collections are known by their slash, whether the client writes it or not (DAV-12). */
export function toForm(destination: string, isTree: boolean): string {
  const bare = destination.length > 1 && destination.endsWith('/') ? destination.slice(0, -1) : destination
  if (isTree) return bare === '/' ? bare : `${bare}/`
  return bare
}

/** @throws Fault 403 where one end lies in the other */
function checkPlaces(from: string, to: string, op: 'copy' | 'move'): void {
  if (to === '/' || (op === 'move' && from === '/')) throw rootRefused()
  const [source, destination] = [`${from}/`.replace('//', '/'), `${to}/`.replace('//', '/')]
  if (source === destination) throw new Fault(403, 'IllegalMove', 'Source and destination are the same.')
  if (destination.startsWith(source) || source.startsWith(destination))
    throw new Fault(403, 'IllegalMove', 'One of source and destination lies inside the other.')
}

/**
 * Whatever has the name of the destination, file or collection.
 *
 * @throws Fault 403 for a file outside of the scope, which opens the collection of this name (DAV-3)
 */
async function standing({ mount, author }: Exchange, to: string): Promise<Node | undefined> {
  const node = (await mount.view.find(to)) ?? (to.endsWith('/') ? await mount.view.find(to.slice(0, -1)) : undefined)
  if (node) checkWritable(author.scope, node.resource.path)
  return node
}

/** @returns locks that the transfer ends: they do not travel, but those on the destination itself stay (DAV-87) */
async function checkTransferLocks(
  exchange: Exchange,
  op: 'copy' | 'move',
  from: string,
  to: string,
  replaced: Node | undefined,
): Promise<Lock[]> {
  const left = op === 'move' ? await checkLocks(exchange, from, 'subtree') : []
  if (!replaced) await checkLocks(exchange, to, 'membership')
  else if (!isCollection(replaced)) await checkLocks(exchange, replaced.resource.path, 'content')
  else {
    const within = await checkLocks(exchange, replaced.resource.path, 'subtree')
    for (const lock of within) if (lockKey(lock.path) !== lockKey(to)) left.push(lock)
  }
  return left
}
