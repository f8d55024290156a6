/** What a selector finds on all pages of the lists of a composed page (HTTP-59, ALL-3). */

import type { Authority, Key } from '../authority.ts'
import { append, shallowCopy } from '../compose/copy.ts'
import { type ChildNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { type Selector, selectingAll } from '../tree/selector/selector.ts'
import { mapping, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import type { Representation } from './representation.ts'

/**
 * The elements about which a read of all matches asks beside those that it shows: one that is refused on some page refuses
 * every page.
 *
 * @returns in steps; none where no list is divided, since then all are shown
 */
export function* keysOnAllPages(
  view: Representation,
  path: string,
  selector: Selector,
  authority: Authority,
): Steps<Key[]> {
  const { undivided } = view.composition ?? {}
  if (!undivided || undivided.size === 0) return []
  const document = yield* copyingUndivided(view.tree, undivided)
  const readable = yield* authority.viewing(path, document)
  const found = yield* selectingAll(selector, readable.document)
  return yield* mapping(found, element => ({ element: readable.original(element), document }))
}

/** A page as it would be with all children of its lists; contents of templates are left out, which nothing is looked for in. */
function* copyingUndivided(
  { kind, source, root }: TreeDocument,
  undivided: ReadonlyMap<ParentNode, readonly ChildNode[]>,
): Steps<TreeDocument> {
  const { mode } = root
  const top: TreeDocument['root'] = { nodeName: '#document', ...(mode !== undefined && { mode }), childNodes: [] }
  const open: { nodes: readonly ChildNode[]; next: number; parent: ParentNode }[] = [
    { nodes: root.childNodes, next: 0, parent: top },
  ]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) {
      append(level.parent, { ...node, parentNode: null })
      continue
    }
    const copy = shallowCopy(node, node.attrs)
    append(level.parent, copy)
    const nodes = undivided.get(node) ?? node.childNodes
    if (nodes.length > 0) open.push({ nodes, next: 0, parent: copy })
  }
  return { kind, source, root: top, clean: false }
}
