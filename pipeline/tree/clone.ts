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
 * @param childrenOf the children that the copy of an element gets
 */
export function* cloning(
  document: TreeDocument,
  copied?: (node: ChildNode, copy: ChildNode) => void,
  childrenOf: ChildrenOf = ownChildren,
): Steps<TreeDocument> {
  if (isHeapWatched()) requireHeap(2 * treeBytes(document))
  const { root } = document
  const copy: DocumentNode = { nodeName: '#document', childNodes: [] }
  if (root.mode !== undefined) copy.mode = root.mode
  yield* copyingBelow([{ nodes: root.childNodes, next: 0, parent: copy }], childrenOf, copied)
  noteCopy(copy, root)
  return { ...document, root: copy }
}

type ChildrenOf = (element: ElementNode) => readonly ChildNode[]

const ownChildren: ChildrenOf = element => element.childNodes

/** Nodes that are being copied. */
interface Level {
  nodes: readonly ChildNode[]
  next: number
  /** Where the copies go. */
  parent: ParentNode
}

/** In the order of the source, as the parser makes them: whoever goes through the copy finds it so in memory, too. */
function* copyingBelow(
  open: Level[],
  childrenOf: ChildrenOf,
  copied?: (node: ChildNode, copy: ChildNode) => void,
): Steps<void> {
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
    if (isElement(node) && isElement(other)) open.push(...levelsOf(node, other, childrenOf(node)))
  }
}

function levelsOf(node: ElementNode, copy: ElementNode, nodes: readonly ChildNode[]): Level[] {
  const levels: Level[] = []
  if (node.content && copy.content) levels.push({ nodes: node.content.childNodes, next: 0, parent: copy.content })
  if (nodes.length > 0) levels.push({ nodes, next: 0, parent: copy })
  return levels
}

const stored = new WeakMap<ElementNode, ElementNode>()

/** Notes that an element which code has built is a copy of a stored one. */
export function noteStored(copy: ElementNode, original: ElementNode): void {
  stored.set(copy, original)
}

/** The stored element that one which code has built is a copy of: its names mean what they mean there (COMP-12, COMP-145). */
export function copiedFrom(element: ElementNode): ElementNode | undefined {
  return stored.get(element)
}

/** A copy of an element and all below it without a parent, offsets included; in steps. */
export function cloningElement(element: ElementNode): Steps<ElementNode> {
  return cloningNoted(element, copiedFrom)
}

/** `cloningElement` of one that is stored: of each element it is noted which one is, as it may be taken out of the copy. */
export function cloningStored(element: ElementNode): Steps<ElementNode> {
  return cloningNoted(element, node => copiedFrom(node) ?? node)
}

function* cloningNoted(
  element: ElementNode,
  originalOf: (node: ElementNode) => ElementNode | undefined,
): Steps<ElementNode> {
  const note = (node: ChildNode, copy: ChildNode): void => {
    const original = isElement(node) ? originalOf(node) : undefined
    if (original && isElement(copy)) noteStored(copy, original)
  }
  const copy = copyElement(element, null)
  note(element, copy)
  yield* copyingBelow(levelsOf(element, copy, element.childNodes), ownChildren, note)
  return copy
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
  return isElement(node)
    ? copyElement(node, parent)
    : { ...node, parentNode: parent, sourceCodeLocation: copyPlace(node.sourceCodeLocation) }
}

function copyElement(node: ElementNode, parent: ParentNode | null): ElementNode {
  const copy: ElementNode = {
    nodeName: node.nodeName,
    tagName: node.tagName,
    attrs: node.attrs.map(a => ({ ...a })),
    namespaceURI: node.namespaceURI,
    childNodes: [],
    parentNode: parent,
    sourceCodeLocation: copyPlace(node.sourceCodeLocation),
  }
  if (node.content) copy.content = { nodeName: '#document-fragment', childNodes: [], host: copy }
  if (node.isCommon) copy.isCommon = true
  if (node.writtenAs) copy.writtenAs = node.writtenAs
  return copy
}

function copyPlace(place: SourcePlace | null | undefined): SourcePlace | null | undefined {
  if (!place) return place
  const { startOffset, endOffset, startTag, endTag } = place
  if (!startTag) return { startOffset, endOffset }
  return { startOffset, endOffset, startTag: { ...startTag }, endTag: endTag && { ...endTag } }
}
