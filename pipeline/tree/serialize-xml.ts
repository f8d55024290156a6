/** Trees to XML text that parses to the same tree again, also when an element is cut out of its document. */

import { declaredPrefix, inScopeNamespaces, prefixOf, XML_NAMESPACE } from './namespaces.ts'
import { type AnyNode, type Attribute, type ChildNode, type ElementNode, isElement } from './nodes.ts'

/** Namespace by prefix; `''` is the default namespace. */
type Bindings = Map<string, string>

/**
 * @returns markup of the node itself; of a document, that of its children. An element stands by itself: declarations
 *   outside it that names inside it need are added to its start tag.
 */
export function outerXml(node: AnyNode): string {
  if (!('parentNode' in node)) return innerXml(node)
  return isElement(node) ? xmlWriter().element(node, owed(node)) : xmlWriter().nodes([node])
}

/** @returns markup of the node's children, to be read with the namespaces in scope at the node */
export function innerXml(node: AnyNode): string {
  if (!('childNodes' in node)) return ''
  if (isElement(node)) return xmlWriter(inScopeNamespaces(node)).nodes(node.childNodes)
  return node.childNodes.map(outerXml).join(node.nodeName === '#document' ? '\n' : '')
}

/** What the element's names take from declarations outside it. */
function owed(cut: ElementNode): Bindings {
  const needed: Bindings = new Map()
  // How many open elements declare each prefix.
  const declared = new Map<string, number>([['xml', 1]])
  const need = (prefix: string, namespace: string): void => {
    if (!declared.get(prefix) && !needed.has(prefix)) needed.set(prefix, namespace)
  }
  const collect = (node: ElementNode): void => {
    const own = node.attrs.map(declaredPrefix).filter(prefix => prefix !== undefined)
    for (const prefix of own) declared.set(prefix, (declared.get(prefix) ?? 0) + 1)
    need(prefixOf(node.tagName), node.namespaceURI)
    for (const a of node.attrs) if (isPrefixed(a)) need(a.prefix, a.namespace)
    for (const child of node.childNodes) if (isElement(child)) collect(child)
    for (const prefix of own) declared.set(prefix, (declared.get(prefix) ?? 0) - 1)
  }
  collect(cut)
  return needed
}

interface XmlWriter {
  /** @param declarations what to declare on the start tag beside the element's own attributes */
  element(node: ElementNode, declarations?: Bindings): string
  nodes(list: ChildNode[]): string
}

/** @param context namespaces in scope where the text will stand */
function xmlWriter(context: Bindings = new Map()): XmlWriter {
  const scope: Bindings = new Map([['', ''], ['xml', XML_NAMESPACE], ...context])

  const element = (node: ElementNode, declarations?: Bindings): string => {
    let tag = `<${node.tagName}`
    const shadowed: [prefix: string, namespace: string | undefined][] = []
    const bind = (prefix: string, namespace: string): void => {
      shadowed.push([prefix, scope.get(prefix)])
      scope.set(prefix, namespace)
    }
    // A prefix that means something else, or nothing, where the node now stands is declared on the spot.
    const ensure = (prefix: string, namespace: string): void => {
      if (scope.get(prefix) === namespace) return
      bind(prefix, namespace)
      tag += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(namespace)}"`
    }
    for (const a of node.attrs) {
      const prefix = declaredPrefix(a)
      if (prefix !== undefined) bind(prefix, a.value.trim())
      tag += ` ${a.prefix ? `${a.prefix}:${a.name}` : a.name}="${escapeAttribute(a.value)}"`
    }
    declarations?.forEach((namespace, prefix) => {
      ensure(prefix, namespace)
    })
    ensure(prefixOf(node.tagName), node.namespaceURI)
    for (const a of node.attrs) if (isPrefixed(a)) ensure(a.prefix, a.namespace)

    const markup = node.childNodes.length === 0 ? `${tag}/>` : `${tag}>${nodes(node.childNodes)}</${node.tagName}>`
    for (let entry = shadowed.pop(); entry; entry = shadowed.pop()) {
      const [prefix, namespace] = entry
      if (namespace === undefined) scope.delete(prefix)
      else scope.set(prefix, namespace)
    }
    return markup
  }

  const nodes = (list: ChildNode[]): string => {
    let markup = ''
    for (const node of list) markup += isElement(node) ? element(node) : leaf(node)
    return markup
  }
  return { element, nodes }
}

function leaf(node: Exclude<ChildNode, ElementNode>): string {
  switch (node.nodeName) {
    case '#text':
      return escapeText(node.value)
    case '#comment':
      return `<!--${node.data}-->`
    case '#documentType':
      return doctype(node.name, node.publicId, node.systemId)
    case '#instruction':
      return node.data === '' ? `<?${node.target}?>` : `<?${node.target} ${node.data}?>`
  }
}

/** Whether the attribute's name needs a declaration. */
function isPrefixed(a: Attribute): a is Attribute & { prefix: string; namespace: string } {
  return !!a.prefix && a.prefix !== 'xmlns' && a.namespace !== undefined
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
