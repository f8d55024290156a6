/** Operations that read nodes (JS-40). */

import { asciiLower, asciiUpper } from '../../../../tree/ascii.ts'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
} from '../../../../tree/nodes.ts'
import { textContent } from '../../../../tree/serialize.ts'
import type { Arguments } from '../engine.ts'
import type { Nodes } from './nodes.ts'

export type DomOperation = (nodes: Nodes, values: Arguments) => string | number | null

const childrenOf = (node: AnyNode): readonly ChildNode[] => ('childNodes' in node ? node.childNodes : [])
const parentOf = (node: AnyNode): AnyNode | null => ('parentNode' in node ? (node.parentNode ?? null) : null)

/** The nodes around a node, by the names that the realm asks with. */
const RELATIONS: Record<string, (node: AnyNode) => AnyNode | null | undefined> = {
  parentNode: parentOf,
  parentElement: node => {
    const parent = parentOf(node)
    return parent && isElement(parent) ? parent : null
  },
  firstChild: node => childrenOf(node)[0],
  lastChild: node => childrenOf(node).at(-1),
  firstElementChild: node => childrenOf(node).find(isElement),
  lastElementChild: node => childrenOf(node).findLast(isElement),
}

/** Siblings take looking for the node among them. */
const SIBLINGS: Record<string, (siblings: readonly ChildNode[], at: number) => AnyNode | undefined> = {
  nextSibling: (siblings, at) => siblings[at + 1],
  previousSibling: (siblings, at) => siblings[at - 1],
  nextElementSibling: (siblings, at) => siblings.find((node, i) => i > at && isElement(node)),
  previousElementSibling: (siblings, at) => siblings.findLast((node, i) => i < at && isElement(node)),
}

const relations = Object.fromEntries(
  Object.entries(RELATIONS).map(([name, find]): [string, DomOperation] => [
    name,
    (nodes, values) => nodes.name(find(nodes.node(values.number(1)))),
  ]),
)

const siblings = Object.fromEntries(
  Object.entries(SIBLINGS).map(([name, find]): [string, DomOperation] => [
    name,
    (nodes, values) => {
      const node = nodes.node(values.number(1))
      const parent = parentOf(node)
      if (!parent) return 0
      const all = childrenOf(parent)
      nodes.budget.step(1 + (all.length >> 4))
      return nodes.name(find(all, all.indexOf(node as ChildNode)))
    },
  ]),
)

export function qualifiedName(nodes: Nodes, element: ElementNode): string {
  return nodes.isHtml(element) ? asciiUpper(element.tagName) : element.tagName
}

/** The name of an attribute with its prefix. */
export function attributeName({ prefix, name }: ElementNode['attrs'][number]): string {
  return prefix ? `${prefix}:${name}` : name
}

/** The attribute of a qualified name, in lower case on elements of HTML. */
export function findAttribute(
  nodes: Nodes,
  element: ElementNode,
  name: string,
): ElementNode['attrs'][number] | undefined {
  const wanted = nodes.isHtml(element) ? asciiLower(name) : name
  return element.attrs.find(a => attributeName(a) === wanted)
}

export function findAttributeNS(
  element: ElementNode,
  namespace: string,
  local: string,
): ElementNode['attrs'][number] | undefined {
  return element.attrs.find(a => a.name === local && (a.namespace ?? '') === namespace)
}

export const reading: Record<string, DomOperation> = {
  ...relations,
  ...siblings,

  ownerDocument: (nodes, values) => {
    const node = nodes.node(values.number(1))
    return node.nodeName === '#document' ? 0 : nodes.name(nodes.owner(node))
  },

  nodeName: (nodes, values) => {
    const node = nodes.node(values.number(1))
    if (isElement(node)) return qualifiedName(nodes, node)
    if (node.nodeName === '#documentType') return node.name
    return node.nodeName === '#instruction' ? node.target : node.nodeName
  },

  localName: (nodes, values) => nodes.localName(nodes.element(values.number(1))),
  prefix: (nodes, values) => nodes.prefix(nodes.element(values.number(1))),
  namespaceURI: (nodes, values) => nodes.element(values.number(1)).namespaceURI || null,

  childNodes: (nodes, values) => nodes.names(childrenOf(nodes.node(values.number(1)))),
  children: (nodes, values) => nodes.names(childrenOf(nodes.node(values.number(1))).filter(isElement)),
  childElementCount: (nodes, values) => childrenOf(nodes.node(values.number(1))).filter(isElement).length,
  hasChildNodes: (nodes, values) => (childrenOf(nodes.node(values.number(1))).length > 0 ? 1 : 0),

  contains: (nodes, values) => {
    const node = nodes.node(values.number(1))
    let at: AnyNode | null = nodes.node(values.number(2))
    while (at && at !== node) at = parentOf(at)
    return at ? 1 : 0
  },

  textContent: (nodes, values) => {
    const node = nodes.node(values.number(1))
    if (node.nodeName === '#document' || node.nodeName === '#documentType') return null
    if (node.nodeName === '#comment' || node.nodeName === '#instruction') return (node as { data: string }).data
    const text = textContent(node)
    nodes.budget.step(1 + (text.length >> 6))
    return text
  },

  data: (nodes, values) => {
    const node = nodes.node(values.number(1))
    if (isText(node)) return node.value
    return 'data' in node ? node.data : ''
  },

  documentElement: (nodes, values) => nodes.name(childrenOf(nodes.node(values.number(1))).find(isElement)),

  head: (nodes, values) => nodes.name(partOf(nodes.node(values.number(1)), ['head'])),
  body: (nodes, values) => nodes.name(partOf(nodes.node(values.number(1)), ['body', 'frameset'])),

  getAttribute: (nodes, values) => {
    const element = nodes.element(values.number(1))
    return findAttribute(nodes, element, values.text(2))?.value ?? null
  },

  getAttributeNS: (nodes, values) =>
    findAttributeNS(nodes.element(values.number(1)), values.text(2), values.text(3))?.value ?? null,

  /** Texts in JSON: qualified name, value, namespace, prefix and local name of each. */
  attributes: (nodes, values) => {
    const { attrs } = nodes.element(values.number(1))
    nodes.budget.step(attrs.length)
    return JSON.stringify(attrs.map(a => [attributeName(a), a.value, a.namespace ?? null, a.prefix ?? null, a.name]))
  },
}

function partOf(document: AnyNode, names: string[]): ElementNode | undefined {
  const root = childrenOf(document).find(isElement)
  if (root?.tagName !== 'html' || root.namespaceURI !== HTML_NAMESPACE) return undefined
  return root.childNodes.filter(isElement).find(e => names.includes(e.tagName) && e.namespaceURI === HTML_NAMESPACE)
}

export { childrenOf, parentOf }
