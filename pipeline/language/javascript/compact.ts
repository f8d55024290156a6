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
export function expand(tree: CompactTree, visited: (node: ChildNode) => void = () => undefined): DocumentNode {
  const { mode, parts } = tree
  let at = 0
  const text = () => String(parts[at++])
  const count = () => Number(parts[at++])
  const optional = () => {
    const part = parts[at++]
    return typeof part === 'string' ? part : undefined
  }

  const read = (parentNode: ParentNode): ChildNode => {
    const nodeName = text()
    switch (nodeName) {
      case '#text':
        return told({ nodeName, value: text(), parentNode })
      case '#comment':
        return told({ nodeName, data: text(), parentNode })
      case '#documentType':
        return told({ nodeName, name: text(), publicId: text(), systemId: text(), parentNode })
      case '#instruction':
        return told({ nodeName, target: text(), data: text(), parentNode })
    }
    const node: ElementNode = {
      nodeName,
      tagName: nodeName,
      namespaceURI: text(),
      attrs: [],
      childNodes: [],
      parentNode,
    }
    visited(node)
    for (let rest = count(); rest > 0; rest--) node.attrs.push(attribute(text(), text(), optional(), optional()))
    for (let rest = count(); rest > 0; rest--) node.childNodes.push(read(node))
    const inside = count()
    if (inside < 0) return node
    const content: FragmentNode = { nodeName: '#document-fragment', childNodes: [] }
    node.content = content
    for (let rest = inside; rest > 0; rest--) content.childNodes.push(read(content))
    return node
  }

  const told = <Node extends ChildNode>(node: Node): Node => {
    visited(node)
    return node
  }

  const root: DocumentNode = { nodeName: '#document', mode, childNodes: [] }
  for (let rest = count(); rest > 0; rest--) root.childNodes.push(read(root))
  return root
}

function attribute(name: string, value: string, prefix: string | undefined, namespace: string | undefined): Attribute {
  const a: Attribute = { name, value }
  if (prefix !== undefined) a.prefix = prefix
  if (namespace !== undefined) a.namespace = namespace
  return a
}
