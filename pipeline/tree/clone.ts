/** Copies of trees. Composition changes copies, never the cached tree of a stored document. */

import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type Place,
  type TreeDocument,
} from './nodes.ts'

/** A copy of the whole document, offsets included. */
export function cloneTree(document: TreeDocument): TreeDocument {
  const { root } = document
  const copy: DocumentNode = { nodeName: '#document', childNodes: [] }
  if (root.mode !== undefined) copy.mode = root.mode
  copyChildren(root.childNodes, copy)
  return { ...document, root: copy }
}

/**
 * A copy of a node and all below it, offsets included.
 *
 * @param parent what the copy names as its parent; it is not added to the parent's children
 */
export function cloneNode<Node extends ChildNode>(node: Node, parent?: ParentNode | null): Node
export function cloneNode(node: ChildNode, parent: ParentNode | null = null): ChildNode {
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
  copyChildren(node.childNodes, copy)
  if (node.content) {
    copy.content = { nodeName: '#document-fragment', childNodes: [] }
    copyChildren(node.content.childNodes, copy.content)
  }
  return copy
}

function copyChildren(nodes: ChildNode[], parent: ParentNode): void {
  for (const node of nodes) parent.childNodes.push(cloneNode(node, parent))
}

function copyPlace(place: Place | null | undefined): Place | null | undefined {
  if (!place) return place
  const { startOffset, endOffset, startTag, endTag } = place
  if (!startTag) return { startOffset, endOffset }
  return { startOffset, endOffset, startTag: { ...startTag }, endTag: endTag && { ...endTag } }
}
