/** Whether nodes, or what is in them, are of a kind. */

import { type ChildNode, type ElementNode, isElement } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'

/**
 * Whether one of the nodes, or of those in them, contents of templates included, is of a kind; in steps. The last ones are asked
 * first.
 *
 * @param entered whether to look into an element
 */
export function* holding(
  nodes: readonly ChildNode[],
  isOne: (node: ChildNode) => boolean,
  entered: (element: ElementNode) => boolean = () => true,
): Steps<boolean> {
  const open = [...nodes]
  for (let node = open.pop(), seen = 1; node; node = open.pop(), seen++) {
    if (seen % NODES_PER_STEP === 0) yield
    if (isOne(node)) return true
    if (!isElement(node) || !entered(node)) continue
    for (const child of node.childNodes) open.push(child)
    for (const child of node.content?.childNodes ?? []) open.push(child)
  }
  return false
}
