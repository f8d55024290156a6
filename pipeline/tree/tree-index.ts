/** The elements of a tree by their ids and in order, as references between items go by them. */

import { localName } from './namespaces.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, isElement, type ParentNode, treeOf } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/**
 * Visits elements in tree order, contents of templates left out.
 *
 * @param visit says whether to go on inside the element
 */
export function* visiting(node: ParentNode, visit: (element: ElementNode) => boolean): Steps<void> {
  if (!isElement(node) || entersInto(node, visit)) yield* visitingBelow(node, visit)
}

function* visitingBelow(node: ParentNode, visit: (element: ElementNode) => boolean): Steps<void> {
  let seen = 0
  const open: { nodes: ParentNode['childNodes']; next: number }[] = [{ nodes: node.childNodes, next: 0 }]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const child = level.nodes[level.next++]
    if (!child) {
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    if (isElement(child) && entersInto(child, visit) && child.childNodes.length > 0)
      open.push({ nodes: child.childNodes, next: 0 })
  }
}

/** The children of an HTML parser's template are in its contents; an XML parser leaves them among those of the element. */
function entersInto(element: ElementNode, visit: (element: ElementNode) => boolean): boolean {
  return visit(element) && !(element.namespaceURI === HTML_NAMESPACE && localName(element.tagName) === 'template')
}

export interface TreeIndex {
  /** First element in tree order with each id, of those that count. */
  ids: Map<string, ElementNode>
  /** SourcePlace of each element in tree order. */
  order: Map<ElementNode, number>
}

/**
 * What `itemref` goes by: the elements of the whole tree that a node stands in, in steps.
 *
 * @param counts whether an id that an element has is known: another one may have the same (SEC-6)
 */
export function* indexTree(node: ParentNode, counts: (element: ElementNode) => boolean = () => true): Steps<TreeIndex> {
  const index: TreeIndex = { ids: new Map(), order: new Map() }
  yield* visiting(treeOf(node), element => {
    index.order.set(element, index.order.size)
    const id = attribute(element, 'id')
    if (id && !index.ids.has(id) && counts(element)) index.ids.set(id, element)
    return true
  })
  return index
}
