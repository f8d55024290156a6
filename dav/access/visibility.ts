/** What a credential gets to see: its scope, the way to it, and nothing else (DAV-3). */

import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Answer } from '../../pipeline/answer.ts'
import { busy } from '../../pipeline/failures.ts'
import { absent } from '../../pipeline/refusals.ts'
import { namesCollection } from '../../pipeline/store/paths.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { memberSum, ZERO } from '../../pipeline/store/tags.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import { untilKnown } from '../../pipeline/write/one-moment.ts'
import type { Exchange } from '../exchange.ts'
import { inLeaves, type Leaf, type Listed, memberAt } from '../listings/listings.ts'
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

function isVisible(scope: Scope, { path, kind }: Pick<Resource, 'path' | 'kind'>): boolean {
  return scope.covers(path) || (kind === 'collection' && scope.leads(path))
}

/** Whether a credential sees what stands at a path, or would, by its path alone. */
export function isSeenAt(scope: Scope, path: string): boolean {
  return isVisible(scope, { path, kind: namesCollection(path) ? 'collection' : 'blob' })
}

/** A collection with its members. */
export interface Listing {
  /** As everybody sees it, and as the credential does. */
  stored: Node
  node: Node
  /** As the credential sees them, ascending by name. Where nothing is hidden, leaves without a change since are the same objects again. */
  leaves: readonly Leaf[]
  /** Collection and members are of one state, so that the tag of the one stands for the others. */
  isSettled: boolean
  /** Whether the members are still as they were. */
  isStanding: () => Promise<boolean>
}

/** Readings of something that somebody changes all the time. */
const ATTEMPTS = 20
/** Milliseconds before the next one, times those that were. */
const PAUSE = 2

/**
 * The members of a collection, in the state in which it is shown: others change, move and remove it meanwhile.
 *
 * @throws Fault 404 when it is gone
 */
export async function listing(looking: Looking, collection: Node): Promise<Listing> {
  const { site, view } = looking.mount
  const { path } = collection.resource
  for (let stored = collection, attempt = 1; ; attempt++) {
    const node = await asSeen(looking, stored)
    const { leaves, sum } = await visibleMembers(looking, stored)
    const isSettled = sum === (node.resource.members ?? ZERO)
    if (isSettled || attempt === ATTEMPTS) {
      const versionOf = (member: string) => memberAt(leaves, member)?.resource.version
      // How long others take to remove what is hidden would tell that it is there.
      const isShown = (member: string) => isSeenAt(looking.author.scope, member)
      // It may have come as a whole with all of them.
      await Promise.all([known(looking, stored), ...site.underWay.aheadIn(path, versionOf, isShown)])
      const isStanding = async () => (await visibleMembers(looking, stored)).sum === sum
      return { stored, node, leaves, isSettled, isStanding }
    }
    // What this process or another one has done may be in the store and not in memory.
    const ahead = attempt > 1 ? site.underWay.at(path) : []
    if (ahead.length > 0) await Promise.race(ahead)
    // What another process has stored is told when it has acknowledged it.
    else if (attempt > 1) await setTimeout(attempt * PAUSE)
    await site.inStep()
    const again = visible(looking, await view.find(path))
    if (!again || !isCollection(again)) throw absent()
    stored = again
  }
}

/**
 * Waits until memory knows what the store has shown of a file: who is shown it would be shown something older elsewhere, and
 * take it for the newer. What collections show of what is in them, nobody reads anywhere but in them.
 */
export async function known({ mount }: Looking, { resource }: Node): Promise<void> {
  const { path, version } = resource
  await Promise.all(mount.site.underWay.ahead(path, version))
}

/** Methods whose answers are made of what is there and what is not, as refusals are. */
export const TELL_ABSENCE: ReadonlySet<string> = new Set(['LOCK', 'QUERY'])

/**
 * The same for what is refused because of what stands at a path, or does not, for locks on it, and for what is not found below
 * it. Where the credential sees nothing, whatever stands there has not decided.
 */
export async function decidedKnown(looking: Partial<Looking> & { path?: string }): Promise<void> {
  const { mount, author, path } = looking
  if (!mount || !author || path === undefined) return
  await untilKnown(mount.site, [path], changed => isSeenAt(author.scope, changed))
}

/**
 * Tells of what stands at the target as it is at one moment: once more where it has changed while it was read.
 *
 * @param tell undefined where it has
 * @returns what it gave in the end
 * @throws Fault 404 where nothing is to be seen, 503 where the last attempt gave nothing either
 */
export async function atOneState(
  exchange: Exchange,
  tell: (stored: Node, isLast: boolean) => Promise<Answer | undefined>,
): Promise<Answer> {
  const { mount, path } = exchange
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) {
      await mount.site.inStep()
      await decidedKnown(exchange)
    }
    const stored = visible(exchange, await mount.view.find(path))
    if (!stored) throw absent()
    const answer = await tell(stored, attempt === ATTEMPTS)
    if (answer) return answer
  }
  throw busy()
}

async function visibleMembers(looking: Looking, collection: Node): Promise<Listed> {
  const { author, mount } = looking
  const { scope } = author
  const listed = await mount.view.members(collection)
  if (scope.whole || scope.coversBelow(collection.resource.path)) return listed
  const seen: Node[] = []
  const turns = new TurnsBetween()
  for (const member of listed.leaves.flat()) {
    // Each is held against all patterns of the scope.
    const turn = turns.next()
    if (turn) await turn
    if (isVisible(scope, member.resource)) seen.push(await asSeen(looking, member))
  }
  return { leaves: inLeaves(seen), sum: listed.sum && memberSum(seen.map(({ resource }) => resource)) }
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
  if (scope.whole || !isCollection(node) || scope.coversBelow(path)) return node
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
  const { leaves } = await visibleMembers(looking, collection)
  const members = leaves.flat().map(member => member.resource)
  const modified = members.reduce((newest, member) => Math.max(newest, member.modified), resource.created)
  const properties = looking.author.scope.covers(resource.path) ? resource.properties : ZERO
  return { ...resource, properties, members: memberSum(members), modified }
}

/** A text that tells apart those who see different members of a collection. */
export function viewerOf({ author }: Pick<Exchange, 'author'>): string {
  return author.scope.whole ? '' : author.user
}
