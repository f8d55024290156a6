/** Operations that make and change nodes (JS-40, JS-41). Whatever was there before refuses to be changed. */

import { asciiLower } from '../../../../tree/ascii.ts'
import { XML_NAMESPACE, XMLNS_NAMESPACE } from '../../../../tree/namespaces.ts'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  type FragmentNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from '../../../../tree/nodes.ts'
import { DomError } from './errors.ts'
import { bytesOf, NODE_BYTES, type Nodes } from './nodes.ts'
import { childrenOf, type DomOperation, findAttribute, findAttributeNS, parentOf } from './read.ts'

/** Names in XML: what its parser can read again. */
const XML_NAME = /^[\p{L}_:][\p{L}\p{N}_:.·-]*$/u
/** Names that may be given in HTML (DOM, "valid element local name", "valid attribute local name", "valid namespace prefix"). */
const ELEMENT_NAME = /^(?:[A-Za-z][^\t\n\f\r \0/>]*|[:_\u{80}-\u{10ffff}][\w.:\-\u{80}-\u{10ffff}]*)$/u
const ATTRIBUTE_NAME = /^[^\t\n\f\r \0/=>]+$/
const PREFIX = /^[^\t\n\f\r \0/>]+$/

type NameOf = 'element' | 'attribute'

function checkedName(nodes: Nodes, node: AnyNode, name: string, of: NameOf): string {
  const pattern = nodes.kindOf(node) === 'xml' ? XML_NAME : of === 'element' ? ELEMENT_NAME : ATTRIBUTE_NAME
  if (!pattern.test(name))
    throw new DomError('InvalidCharacterError', `${JSON.stringify(name.slice(0, 100))} is no name.`)
  return name
}

/** Namespaces and prefixes that fit (DOM, "validate and extract"). */
function checkedQualified(
  nodes: Nodes,
  node: AnyNode,
  namespace: string,
  name: string,
  of: NameOf,
): { prefix: string; local: string } {
  const colon = name.indexOf(':')
  const prefix = colon < 0 ? '' : name.slice(0, colon)
  if (colon >= 0 && !PREFIX.test(prefix))
    throw new DomError('InvalidCharacterError', `${JSON.stringify(name.slice(0, 100))} has no prefix.`)
  const local = checkedName(nodes, node, name.slice(colon + 1), of)
  const isXmlns = prefix === 'xmlns' || name === 'xmlns'
  if (
    (prefix !== '' && namespace === '') ||
    (prefix === 'xml' && namespace !== XML_NAMESPACE) ||
    isXmlns !== (namespace === XMLNS_NAMESPACE)
  )
    throw new DomError('NamespaceError', `"${name.slice(0, 100)}" does not go with its namespace.`)
  return { prefix, local }
}

export function detach(nodes: Nodes, node: ChildNode): void {
  const parent = parentOf(node)
  if (!parent || !('childNodes' in parent)) return
  const owner = nodes.owner(node)
  nodes.budget.step(1 + (parent.childNodes.length >> 4))
  parent.childNodes.splice(parent.childNodes.indexOf(node), 1)
  node.parentNode = null
  nodes.own(node, owner)
}

/** The nodes that are inserted for one: those of a fragment, or itself. */
function insertedFor(node: AnyNode): readonly ChildNode[] {
  if (node.nodeName === '#document-fragment') return [...childrenOf(node)]
  return 'parentNode' in node ? [node] : []
}

/**
 * Inserts a node, or those of a fragment (DOM, "pre-insert").
 *
 * @param before undefined: at the end
 */
export function insert(nodes: Nodes, parent: AnyNode, node: AnyNode, before: AnyNode | undefined): void {
  insertChecked(nodes, parent, node, before, false)
}

/** @param isAlone whether all children make room for it */
function insertChecked(
  nodes: Nodes,
  parent: AnyNode,
  node: AnyNode,
  before: AnyNode | undefined,
  isAlone: boolean,
): void {
  nodes.writable(parent)
  nodes.writable(node)
  if (!('childNodes' in parent)) throw new DomError('HierarchyRequestError', 'The node cannot have children.')
  for (let at: AnyNode | null = parent; at; at = parentOf(at))
    if (at === node) throw new DomError('HierarchyRequestError', 'A node cannot be put into itself.')
  if (before && parentOf(before) !== parent)
    throw new DomError('NotFoundError', 'The node to insert before is no child of this node.')
  if (node.nodeName === '#document') throw new DomError('HierarchyRequestError', 'A document cannot be inserted.')
  const inserted = insertedFor(node)
  if (parent.nodeName === '#document') fitsDocument(inserted, isAlone ? [] : childrenOf(parent))
  else if (inserted.some(({ nodeName }) => nodeName === '#documentType'))
    throw new DomError('HierarchyRequestError', 'A document type stands in a document.')
  for (const each of inserted) nodes.count(each, parent)
  if (isAlone) replaceAll(nodes, parent, [])
  const reference = before === node ? childrenOf(parent)[childrenOf(parent).indexOf(node as ChildNode) + 1] : before
  for (const each of inserted) {
    detach(nodes, each)
    put(nodes, parent, each, reference)
  }
}

function put(nodes: Nodes, parent: ParentNode, node: ChildNode, before: AnyNode | undefined): void {
  node.parentNode = parent
  if (before === undefined) {
    parent.childNodes.push(node)
    return
  }
  nodes.budget.step(1 + (parent.childNodes.length >> 4))
  parent.childNodes.splice(parent.childNodes.indexOf(before as ChildNode), 0, node)
}

/** A document holds one element, and no text. */
function fitsDocument(inserted: readonly ChildNode[], present: readonly ChildNode[]): void {
  const isAnother = inserted.some(isElement) && [...present, ...inserted].filter(isElement).length > 1
  if (isAnother || inserted.some(({ nodeName }) => nodeName === '#text'))
    throw new DomError('HierarchyRequestError', 'A document has one element and no text.')
}

/** All children away, and one node in their place. */
function replaceAll(nodes: Nodes, parent: ParentNode, made: readonly ChildNode[]): void {
  for (const child of [...parent.childNodes].reverse()) detach(nodes, child)
  for (const node of made) {
    node.parentNode = parent
    parent.childNodes.push(node)
  }
}

export { replaceAll }

/** A copy that belongs to nobody. */
function copyOf(nodes: Nodes, node: AnyNode, deep: boolean, parent: ParentNode | null): AnyNode {
  if (isElement(node)) {
    const copy: ElementNode = {
      nodeName: node.nodeName,
      tagName: node.tagName,
      namespaceURI: node.namespaceURI,
      attrs: node.attrs.map(a => ({ ...a })),
      childNodes: [],
      parentNode: parent,
    }
    if (nodes.prefix(node) !== null) nodes.setPrefixed(copy)
    if (node.content) {
      const content: FragmentNode = { nodeName: '#document-fragment', childNodes: [] }
      copy.content = content
      if (deep) copyInto(nodes, node.content, content)
    }
    if (deep) copyInto(nodes, node, copy)
    return copy
  }
  if (node.nodeName === '#document' || node.nodeName === '#document-fragment') {
    const copy: ParentNode =
      node.nodeName === '#document'
        ? nodes.addDocument(nodes.kindOf(node), {
            nodeName: '#document',
            mode: (node as { mode?: string }).mode,
            childNodes: [],
          })
        : { nodeName: '#document-fragment', childNodes: [] }
    if (deep) copyInto(nodes, node, copy)
    return copy
  }
  return { ...(node as ChildNode), parentNode: parent, sourceCodeLocation: null } as ChildNode
}

function copyInto(nodes: Nodes, from: AnyNode, to: ParentNode): void {
  for (const child of childrenOf(from)) to.childNodes.push(copyOf(nodes, child, true, to) as ChildNode)
}

function made(nodes: Nodes, document: AnyNode, node: ChildNode | FragmentNode): number {
  const owner = document.nodeName === '#document' ? (document as ReturnType<Nodes['owner']>) : nodes.main
  nodes.count(node)
  return nodes.name(nodes.own(node, owner))
}

function setAttribute(
  nodes: Nodes,
  element: ElementNode,
  found: ElementNode['attrs'][number] | undefined,
  value: string,
  add: () => ElementNode['attrs'][number],
): null {
  nodes.budget.take(NODE_BYTES + 2 * value.length)
  if (found) found.value = value
  else element.attrs.push(add())
  return null
}

function element(tagName: string, namespaceURI: string): ElementNode {
  const node: ElementNode = { nodeName: tagName, tagName, namespaceURI, attrs: [], childNodes: [], parentNode: null }
  if (tagName === 'template' && namespaceURI === HTML_NAMESPACE)
    node.content = { nodeName: '#document-fragment', childNodes: [] }
  return node
}

export const changing: Record<string, DomOperation> = {
  createElement: (nodes, values) => {
    const document = nodes.node(values.number(1))
    const name = checkedName(nodes, document, values.text(2), 'element')
    const isHtml = nodes.kindOf(document) === 'html'
    return made(nodes, document, element(isHtml ? asciiLower(name) : name, HTML_NAMESPACE))
  },

  createElementNS: (nodes, values) => {
    const namespace = values.text(2)
    const name = values.text(3)
    const { prefix } = checkedQualified(nodes, nodes.node(values.number(1)), namespace, name, 'element')
    const node = element(name, namespace)
    if (prefix !== '') nodes.setPrefixed(node)
    return made(nodes, nodes.node(values.number(1)), node)
  },

  createTextNode: (nodes, values) =>
    made(nodes, nodes.node(values.number(1)), { nodeName: '#text', value: values.text(2), parentNode: null }),

  createComment: (nodes, values) =>
    made(nodes, nodes.node(values.number(1)), { nodeName: '#comment', data: values.text(2), parentNode: null }),

  createDocumentFragment: (nodes, values) =>
    made(nodes, nodes.node(values.number(1)), { nodeName: '#document-fragment', childNodes: [] }),

  /** Node, whether with all below it, and the document that it is for, if another. */
  cloneNode: (nodes, values) => {
    const node = nodes.node(values.number(1))
    const into = values.number(3)
    if (into !== 0 && node.nodeName === '#document')
      throw new DomError('NotSupportedError', 'A document cannot be imported.')
    const isDeep = values.number(2) === 1
    // Counted before it is made: copies of copies grow fast.
    if (isDeep) nodes.count(node)
    else nodes.budget.take(NODE_BYTES + bytesOf(node))
    if (nodes.budget.ended) return 0
    const copy = copyOf(nodes, node, isDeep, null)
    if (copy.nodeName !== '#document')
      nodes.own(copy as ChildNode, into === 0 ? nodes.owner(node) : (nodes.node(into) as ReturnType<Nodes['owner']>))
    return nodes.name(copy)
  },

  insertBefore: (nodes, values) => {
    const before = values.number(3)
    const node = nodes.node(values.number(2))
    insert(nodes, nodes.node(values.number(1)), node, before === 0 ? undefined : nodes.node(before))
    return nodes.name(node)
  },

  removeChild: (nodes, values) => {
    const parent = nodes.writable(nodes.node(values.number(1)))
    const child = nodes.node(values.number(2))
    if (parentOf(child) !== parent) throw new DomError('NotFoundError', 'The node is no child of this node.')
    detach(nodes, child as ChildNode)
    return nodes.name(child)
  },

  replaceChild: (nodes, values) => {
    const parent = nodes.writable(nodes.node(values.number(1)))
    const node = nodes.writable(nodes.node(values.number(2)))
    const child = nodes.node(values.number(3))
    if (parentOf(child) !== parent) throw new DomError('NotFoundError', 'The node is no child of this node.')
    if (node === child) return nodes.name(child)
    if (parent.nodeName === '#document' && isElement(node) && isElement(child)) {
      const next = childrenOf(parent)[childrenOf(parent).indexOf(child) + 1]
      detach(nodes, child)
      insert(nodes, parent, node, next)
    } else {
      insert(nodes, parent, node, child)
      detach(nodes, child as ChildNode)
    }
    return nodes.name(child)
  },

  replaceChildren: (nodes, values) => {
    insertChecked(nodes, nodes.node(values.number(1)), nodes.node(values.number(2)), undefined, true)
    return null
  },

  remove: (nodes, values) => {
    const node = nodes.writable(nodes.node(values.number(1)))
    if ('parentNode' in node) detach(nodes, node)
    return null
  },

  setTextContent: (nodes, values) => {
    const node = nodes.node(values.number(1))
    if (node.nodeName === '#document' || node.nodeName === '#documentType') return null
    nodes.writable(node)
    const value = values.text(2)
    if (!('childNodes' in node)) {
      nodes.budget.take(2 * value.length)
      if (node.nodeName === '#text') node.value = value
      else if ('data' in node) node.data = value
      return null
    }
    nodes.budget.take(NODE_BYTES + 2 * value.length)
    replaceAll(nodes, node, value === '' ? [] : [{ nodeName: '#text', value, parentNode: node }])
    return null
  },

  setAttribute: (nodes, values) => {
    const node = nodes.writable(nodes.element(values.number(1)))
    const name = checkedName(nodes, node, values.text(2), 'attribute')
    return setAttribute(nodes, node, findAttribute(nodes, node, name), values.text(3), () => ({
      name: nodes.isHtml(node) ? asciiLower(name) : name,
      value: values.text(3),
    }))
  },

  setAttributeNS: (nodes, values) => {
    const node = nodes.writable(nodes.element(values.number(1)))
    const namespace = values.text(2)
    const { prefix, local } = checkedQualified(nodes, node, namespace, values.text(3), 'attribute')
    return setAttribute(nodes, node, findAttributeNS(node, namespace, local), values.text(4), () => ({
      name: local,
      value: values.text(4),
      ...(namespace === '' ? {} : { namespace }),
      ...(prefix === '' ? {} : { prefix }),
    }))
  },

  removeAttribute: (nodes, values) => {
    const node = nodes.writable(nodes.element(values.number(1)))
    const found = findAttribute(nodes, node, values.text(2))
    if (found) node.attrs.splice(node.attrs.indexOf(found), 1)
    return null
  },

  removeAttributeNS: (nodes, values) => {
    const node = nodes.writable(nodes.element(values.number(1)))
    const found = findAttributeNS(node, values.text(2), values.text(3))
    if (found) node.attrs.splice(node.attrs.indexOf(found), 1)
    return null
  },
}
