/** Copies of trees. Composition changes copies, never the cached tree of a stored document. */

import { isHeapWatched, requireHeap } from './heap.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type SourcePlace,
  type TreeDocument,
} from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'
import { noteCopy, treeBytes } from './weight.ts'

/** A copy of the whole document, offsets included. */
export function cloneTree(document: TreeDocument): TreeDocument {
  return atOnce(cloning(document))
}

/**
 * `cloneTree` in steps.
 *
 * @param copied is told of every node and its copy
 */
export function* cloning(
  document: TreeDocument,
  copied?: (node: ChildNode, copy: ChildNode) => void,
): Steps<TreeDocument> {
  if (isHeapWatched()) requireHeap(2 * treeBytes(document))
  const { root } = document
  const copy: DocumentNode = { nodeName: '#document', childNodes: [] }
  if (root.mode !== undefined) copy.mode = root.mode
  // In the order of the source, as the parser makes them: whoever goes through the copy finds it so in memory, too.
  const open: { nodes: readonly ChildNode[]; next: number; parent: ParentNode }[] = []
  open.push({ nodes: root.childNodes, next: 0, parent: copy })
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    const other = copyNode(node, level.parent)
    level.parent.childNodes.push(other)
    copied?.(node, other)
    if (!isElement(node) || !isElement(other)) continue
    if (node.content && other.content) open.push({ nodes: node.content.childNodes, next: 0, parent: other.content })
    if (node.childNodes.length > 0) open.push({ nodes: node.childNodes, next: 0, parent: other })
  }
  noteCopy(copy, root)
  return { ...document, root: copy }
}

/**
 * A copy of a node and all below it, offsets included.
 *
 * @param parent what the copy names as its parent; it is not added to the parent's children
 */
export function cloneNode<Node extends ChildNode>(node: Node, parent?: ParentNode | null): Node
export function cloneNode(node: ChildNode, parent: ParentNode | null = null): ChildNode {
  const copy = copyNode(node, parent)
  if (isElement(node) && isElement(copy)) {
    for (const child of node.childNodes) copy.childNodes.push(cloneNode(child, copy))
    for (const child of node.content?.childNodes ?? []) copy.content?.childNodes.push(cloneNode(child, copy.content))
  }
  return copy
}

/** A node without what is below it. */
function copyNode(node: ChildNode, parent: ParentNode | null): ChildNode {
  if (!isElement(node)) return { ...node, parentNode: parent, sourceCodeLocation: copyPlace(node.sourceCodeLocation) }
  const copy: ElementNode = {
    nodeName: node.nodeName,
    tagName: node.tagName,
    attrs: node.attrs.map(a => ({ ...a })),
    namespaceURI: node.namespaceURI,
    childNodes: [],
    parentNode: parent,
    sourceCodeLocation: copyPlace(node.sourceCodeLocation),
  }
  if (node.content) copy.content = { nodeName: '#document-fragment', childNodes: [] }
  return copy
}

function copyPlace(place: SourcePlace | null | undefined): SourcePlace | null | undefined {
  if (!place) return place
  const { startOffset, endOffset, startTag, endTag } = place
  if (!startTag) return { startOffset, endOffset }
  return { startOffset, endOffset, startTag: { ...startTag }, endTag: endTag && { ...endTag } }
}
