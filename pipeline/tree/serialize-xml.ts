/** Trees to XML text that parses to the same tree again, also when an element is cut out of its document. */

import { declaredPrefix, inScopeNamespaces, prefixOf, XML_NAMESPACE } from './namespaces.ts'
import { type AnyNode, type Attribute, type ChildNode, type ElementNode, isElement } from './nodes.ts'

/** Namespace by prefix; `''` is the default namespace. */
type Scope = Map<string, string>

const TOP: Scope = new Map([
  ['xml', XML_NAMESPACE],
  ['', ''],
])

/** @returns markup of the node itself; of a document, that of its children. An element stands by itself: the
 *   declarations of its ancestors that names in it need are added to its start tag. */
export function outerXml(node: AnyNode): string {
  if (!('parentNode' in node)) return innerXml(node)
  return isElement(node) ? element(node, TOP, owed(node)) : one(node, TOP)
}

/** @returns markup of the node's children, to be read with the namespaces in scope at the node */
export function innerXml(node: AnyNode): string {
  if (!('childNodes' in node)) return ''
  if (!isElement(node)) return node.childNodes.map(outerXml).join('\n')
  const scope = new Map([...TOP, ...inScopeNamespaces(node)])
  return all(node.childNodes, scope)
}

/** Declarations of ancestors that names inside the element stand on. */
function owed(cut: ElementNode): Scope {
  const outer = inScopeNamespaces(cut.parentNode && isElement(cut.parentNode) ? cut.parentNode : undefined)
  const needed: Scope = new Map()
  if (outer.size === 0) return needed
  const collect = (node: ElementNode, declared: Set<string>): void => {
    const own = node.attrs.map(declaredPrefix).filter(prefix => prefix !== undefined)
    const inner = own.length > 0 ? new Set([...declared, ...own]) : declared
    for (const prefix of usedPrefixes(node)) {
      const namespace = outer.get(prefix)
      if (namespace !== undefined && !inner.has(prefix)) needed.set(prefix, namespace)
    }
    for (const child of node.childNodes) if (isElement(child)) collect(child, inner)
  }
  collect(cut, new Set())
  return needed
}

function usedPrefixes(node: ElementNode): string[] {
  const used = [prefixOf(node.tagName)]
  for (const a of node.attrs) if (a.prefix && a.prefix !== 'xmlns') used.push(a.prefix)
  return used
}

function all(nodes: ChildNode[], scope: Scope): string {
  let markup = ''
  for (const node of nodes) markup += one(node, scope)
  return markup
}

function one(node: ChildNode, scope: Scope): string {
  if (isElement(node)) return element(node, scope)
  switch (node.nodeName) {
    case '#text':
      return escapeText(node.value)
    case '#comment':
      return `<!--${node.data}-->`
    case '#documentType':
      return doctype(node.name, node.publicId, node.systemId)
    default:
      return node.data === '' ? `<?${node.target}?>` : `<?${node.target} ${node.data}?>`
  }
}

function element(node: ElementNode, outer: Scope, extra?: Scope): string {
  let tag = `<${node.tagName}`
  let scope = outer
  const declare = (prefix: string, namespace: string): void => {
    if (scope === outer) scope = new Map(outer)
    scope.set(prefix, namespace)
  }
  for (const a of node.attrs) {
    const prefix = declaredPrefix(a)
    if (prefix !== undefined) declare(prefix, a.value.trim())
    tag += ` ${qualifiedName(a)}="${escapeAttribute(a.value)}"`
  }
  const add = (prefix: string, namespace: string): void => {
    declare(prefix, namespace)
    tag += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(namespace)}"`
  }
  if (extra) for (const [prefix, namespace] of extra) add(prefix, namespace)
  // Nodes that came from elsewhere may stand under prefixes that mean something else, or nothing, here.
  const own = prefixOf(node.tagName)
  if (scope.get(own) !== node.namespaceURI) add(own, node.namespaceURI)
  for (const a of node.attrs) {
    if (a.prefix && a.prefix !== 'xmlns' && a.namespace !== undefined && scope.get(a.prefix) !== a.namespace) {
      add(a.prefix, a.namespace)
    }
  }
  return node.childNodes.length === 0 ? `${tag}/>` : `${tag}>${all(node.childNodes, scope)}</${node.tagName}>`
}

function qualifiedName(a: Attribute): string {
  return a.prefix ? `${a.prefix}:${a.name}` : a.name
}

function doctype(name: string, publicId: string, systemId: string): string {
  const quoted = systemId.includes('"') ? `'${systemId}'` : `"${systemId}"`
  if (publicId !== '') return `<!DOCTYPE ${name} PUBLIC "${publicId}" ${quoted}>`
  return systemId === '' ? `<!DOCTYPE ${name}>` : `<!DOCTYPE ${name} SYSTEM ${quoted}>`
}

// A literal carriage return would be read as a line feed; in attributes all white space would be read as spaces.
const IN_TEXT = /[&<>\r]/g
const IN_ATTRIBUTE = /[&<>"\t\n\r]/g
const REFERENCES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

function reference(character: string): string {
  return REFERENCES[character] ?? character
}

function escapeText(text: string): string {
  return text.replace(IN_TEXT, reference)
}

function escapeAttribute(value: string): string {
  return value.replace(IN_ATTRIBUTE, reference)
}
