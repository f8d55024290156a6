/** What a credential gets to see: its scope, the way to it, and nothing else (DAV-3). */

import type { Resource } from '../pipeline/resource-tags.ts'
import type { Exchange } from './exchange.ts'
import type { Node } from './view.ts'

/**
 * @returns the node if the credential may read it. A collection that only leads to what is open stays visible, since
 *   clients walk down from the root; it shows nothing but the way
 */
export function visible({ visitor }: Pick<Exchange, 'visitor'>, node: Node | undefined): Node | undefined {
  if (!node || visitor.scope.whole || isVisible(visitor.scope, node.resource)) return node
  return undefined
}

function isVisible(scope: Exchange['visitor']['scope'], { path, kind }: Resource): boolean {
  return scope.covers(path) || (kind === 'collection' && scope.leads(path))
}

/** Members of a collection as the credential sees them. */
export async function visibleMembers(
  { visitor, mount }: Pick<Exchange, 'visitor' | 'mount'>,
  collection: Node,
): Promise<Node[]> {
  const members = await mount.view.members(collection)
  return visitor.scope.whole ? members : members.filter(({ resource }) => isVisible(visitor.scope, resource))
}

/** A text that tells apart those who see different members of a collection. */
export function viewerOf({ visitor }: Pick<Exchange, 'visitor'>): string {
  return visitor.scope.whole ? '' : visitor.user
}
