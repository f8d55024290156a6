/** Copies of stored nodes for a page that is put together, and what they take. */

import type { Allowance } from '../language/allowance.ts'
import { type ChildNode, type ElementNode, isElement, isText, type ParentNode } from '../tree/nodes.ts'
import { NODES_PER_STEP } from '../tree/steps.ts'
import type { Work } from './work.ts'

/** Bytes that a node takes beside its text, where something has put it into the page. */
export const NODE_BYTES = 250

/** Characters of the names of an element that are among these bytes: most have fewer. */
const COMMON_NAMES = 100

/** What a node takes that is put into a page: its text is written there once more, wherever else it stands, and so are names. */
export function bytesOf(node: ChildNode): number {
  if (isElement(node)) {
    let bytes = NODE_BYTES
    let names = 2 * node.nodeName.length
    for (const { name, value, prefix } of node.attrs) {
      bytes += value.length
      // With what stands around the value.
      names += name.length + (prefix?.length ?? 0) + 4
    }
    return bytes + Math.max(0, names - COMMON_NAMES)
  }
  return NODE_BYTES + (isText(node) ? node.value.length : node.nodeName === '#comment' ? node.data.length : 0)
}

/**
 * A copy of a node and all below it, without places in a source.
 *
 * @param isFree it stays where the requested document has it, so that nothing is built
 */
export function* copyOf(allowance: Allowance, node: ChildNode, isFree: boolean): Work<ChildNode> {
  if (!isFree) allowance.take(bytesOf(node))
  if (!isElement(node)) return { ...node, parentNode: null }
  const top = shallowCopy(node, node.attrs)
  const open: { nodes: readonly ChildNode[]; next: number; parent: ParentNode }[] = []
  const enter = (from: ElementNode, to: ElementNode) => {
    if (from.content && to.content) open.push({ nodes: from.content.childNodes, next: 0, parent: to.content })
    if (from.childNodes.length > 0) open.push({ nodes: from.childNodes, next: 0, parent: to })
  }
  enter(node, top)
  let seen = 1
  let bytes = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const child = level.nodes[level.next++]
    if (!child) {
      open.pop()
      continue
    }
    if (!isFree) bytes += bytesOf(child)
    if (++seen % NODES_PER_STEP === 0) {
      allowance.take(bytes)
      bytes = 0
      yield
    }
    if (isElement(child)) {
      const copy = shallowCopy(child, child.attrs)
      append(level.parent, copy)
      enter(child, copy)
    } else append(level.parent, { ...child, parentNode: null })
  }
  allowance.take(bytes)
  return top
}

/** An element with other attributes, without its content and its place. */
export function shallowCopy(element: ElementNode, attrs: ElementNode['attrs']): ElementNode {
  const { nodeName, tagName, namespaceURI } = element
  const copy: ElementNode = { nodeName, tagName, namespaceURI, attrs, childNodes: [], parentNode: null }
  if (element.content) copy.content = { nodeName: '#document-fragment', childNodes: [] }
  return copy
}

/** Puts a node behind the others of a parent. */
export function append(parent: ParentNode, node: ChildNode): void {
  parent.childNodes.push(node)
  node.parentNode = parent
}
