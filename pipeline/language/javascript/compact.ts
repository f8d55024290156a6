/** Trees as flat lists of texts and numbers, in which they go from one thread to another. */

import type {
  Attribute,
  ChildNode,
  DocumentKind,
  DocumentNode,
  ElementNode,
  FragmentNode,
  ParentNode,
} from '../../tree/nodes.ts'
import { isElement } from '../../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../../tree/steps.ts'

export interface CompactTree {
  kind: DocumentKind
  /** Quirks mode of the document. */
  mode?: string
  /** The nodes in document order, each as its parts. */
  parts: (string | number)[]
}

/**
 * @param nodes what the tree consists of: the children of a document, or one element
 * @param visited is told of each node in document order, contents of templates last
 */
export function compact(
  kind: DocumentKind,
  mode: string | undefined,
  nodes: readonly ChildNode[],
  visited: (node: ChildNode) => void = () => undefined,
): CompactTree {
  const parts: (string | number)[] = []
  const write = (node: ChildNode): void => {
    visited(node)
    parts.push(node.nodeName)
    if (isElement(node)) {
      const { namespaceURI, attrs, childNodes, content } = node
      parts.push(namespaceURI, attrs.length)
      for (const { name, value, prefix, namespace } of attrs) parts.push(name, value, prefix ?? 0, namespace ?? 0)
      parts.push(childNodes.length)
      for (const child of childNodes) write(child)
      parts.push(content ? content.childNodes.length : -1)
      for (const child of content?.childNodes ?? []) write(child)
    } else if (node.nodeName === '#text') parts.push(node.value)
    else if (node.nodeName === '#comment') parts.push(node.data)
    else if (node.nodeName === '#documentType') parts.push(node.name, node.publicId, node.systemId)
    else parts.push(node.target, node.data)
  }
  parts.push(nodes.length)
  for (const node of nodes) write(node)
  return { kind, mode, parts }
}

/**
 * @param visited is told of each node in the order of `compact`
 * @returns the document whose children are the nodes
 */
export function expand(tree: CompactTree, visited?: (node: ChildNode) => void): DocumentNode {
  return atOnce(expanding(tree, visited))
}

/** Children that are still to be read, and the element whose template content comes after them. */
interface Open {
  parent: ParentNode
  rest: number
  element?: ElementNode
}

/** The same in steps. */
export function* expanding(
  { mode, parts }: CompactTree,
  visited: (node: ChildNode) => void = () => undefined,
): Steps<DocumentNode> {
  let at = 0
  const text = () => String(parts[at++])
  const count = () => Number(parts[at++])
  const optional = () => {
    const part = parts[at++]
    return typeof part === 'string' ? part : undefined
  }

  /** A node without its children. */
  const node = (parentNode: ParentNode): ChildNode => {
    const nodeName = text()
    switch (nodeName) {
      case '#text':
        return { nodeName, value: text(), parentNode }
      case '#comment':
        return { nodeName, data: text(), parentNode }
      case '#documentType':
        return { nodeName, name: text(), publicId: text(), systemId: text(), parentNode }
      case '#instruction':
        return { nodeName, target: text(), data: text(), parentNode }
    }
    const element: ElementNode = {
      nodeName,
      tagName: nodeName,
      namespaceURI: text(),
      attrs: [],
      childNodes: [],
      parentNode,
    }
    for (let rest = count(); rest > 0; rest--) element.attrs.push(attribute(text(), text(), optional(), optional()))
    return element
  }

  const root: DocumentNode = { nodeName: '#document', mode, childNodes: [] }
  const open: Open[] = [{ parent: root, rest: count() }]
  let nodes = 0
  for (let last = open.at(-1); last; last = open.at(-1)) {
    if (last.rest > 0) {
      last.rest--
      const child = node(last.parent)
      visited(child)
      last.parent.childNodes.push(child)
      if (isElement(child)) open.push({ parent: child, rest: count(), element: child })
      if (++nodes % NODES_PER_STEP === 0) yield
      continue
    }
    open.pop()
    const inside = last.element ? count() : -1
    if (!last.element || inside < 0) continue
    const content: FragmentNode = { nodeName: '#document-fragment', childNodes: [] }
    last.element.content = content
    open.push({ parent: content, rest: inside })
  }
  return root
}

function attribute(name: string, value: string, prefix: string | undefined, namespace: string | undefined): Attribute {
  const a: Attribute = { name, value }
  if (prefix !== undefined) a.prefix = prefix
  if (namespace !== undefined) a.namespace = namespace
  return a
}
