/** What a credential gets to see: its scope, the way to it, and nothing else (DAV-3). */

import { setImmediate } from 'node:timers/promises'
import type { Resource } from '../../pipeline/store/resource.ts'
import { memberSum, ZERO } from '../../pipeline/store/tags.ts'
import type { Exchange } from '../exchange.ts'
import { inLeaves, type Leaf } from '../listings/listings.ts'
import { isCollection, type Node } from '../places/place.ts'
import type { Scope } from './scope.ts'

type Looking = Pick<Exchange, 'author' | 'mount'>

/**
 * @returns the node if the credential may read it. A collection that only leads to what is open stays visible, since
 *   clients walk down from the root; it shows nothing but the way
 */
export function visible({ author }: Pick<Exchange, 'author'>, node: Node | undefined): Node | undefined {
  if (!node || author.scope.whole || isVisible(author.scope, node.resource)) return node
  return undefined
}

function isVisible(scope: Scope, { path, kind }: Resource): boolean {
  return scope.covers(path) || (kind === 'collection' && scope.leads(path))
}

/** What stands at a path, as the credential sees it. */
export async function findSeen(looking: Looking, path: string): Promise<Node | undefined> {
  const node = visible(looking, await looking.mount.view.find(path))
  return node && asSeen(looking, node)
}

/** Members of a collection as the credential sees them, ascending by name. */
export async function visibleMembers(looking: Looking, collection: Node): Promise<Node[]> {
  return (await visibleLeaves(looking, collection)).flat()
}

/** The same in leaves. Where nothing is hidden, those without a change since are the same objects again. */
export async function visibleLeaves(looking: Looking, collection: Node): Promise<readonly Leaf[]> {
  const { author, mount } = looking
  const leaves = await mount.view.leaves(collection)
  if (author.scope.whole || author.scope.coversBelow(collection.resource.path)) return leaves
  const seen: Node[] = []
  for (const member of leaves.flat())
    if (isVisible(author.scope, member.resource)) seen.push(await asSeen(looking, member))
  return inLeaves(seen)
}

/** States of collections by what is visible in them; they last as long as the states they are made from. */
const seenStates = new WeakMap<Scope, WeakMap<Resource, Promise<Resource>>>()

/**
 * A node with the state that the credential sees: what is hidden in a collection changes neither its tags nor its time,
 * which would tell that it is there (DAV-50). Where scopes are no prefixes, the first look at a collection reads all
 * collections below it.
 */
export async function asSeen(looking: Looking, node: Node): Promise<Node> {
  const { scope } = looking.author
  const { path } = node.resource
  if (scope.whole || !isCollection(node) || !node.place.isPublished || scope.coversBelow(path)) return node
  // Members come from listings, which give every time another object for the same state.
  const state = (await looking.mount.view.find(path)) ?? node
  let ofScope = seenStates.get(scope)
  if (!ofScope) seenStates.set(scope, (ofScope = new WeakMap()))
  let seen = ofScope.get(state.resource)
  if (!seen) {
    seen = seenState(looking, state)
    ofScope.set(state.resource, seen)
    seen.catch(() => ofScope.delete(state.resource))
  }
  return { ...node, resource: await seen }
}

async function seenState(looking: Looking, collection: Node): Promise<Resource> {
  await setImmediate()
  const { resource } = collection
  const members = (await visibleMembers(looking, collection)).map(member => member.resource)
  const modified = members.reduce((newest, member) => Math.max(newest, member.modified), resource.created)
  const properties = looking.author.scope.covers(resource.path) ? resource.properties : ZERO
  return { ...resource, properties, members: memberSum(members), modified }
}

/** A text that tells apart those who see different members of a collection. */
export function viewerOf({ author }: Pick<Exchange, 'author'>): string {
  return author.scope.whole ? '' : author.user
}
