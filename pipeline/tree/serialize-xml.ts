/** Trees to XML text that parses to the same tree again, also when an element is cut out of its document. */

import { isShort, LONG, LongText, writingText } from './long-text.ts'
import { declaredPrefix, inScopeNamespaces, prefixOf, XML_NAMESPACE } from './namespaces.ts'
import { type AnyNode, type Attribute, type ChildNode, type ElementNode, isElement, isText } from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'

/** Namespace by prefix; `''` is the default namespace. */
type Bindings = Map<string, string>

/**
 * @returns markup of the node itself; of a document, that of its children. An element stands by itself: declarations
 *   outside it that names inside it need are added to its start tag.
 */
export function outerXml(node: AnyNode): string {
  return atOnce(writingXml(node))
}

/** `outerXml` in steps. */
export function* writingXml(node: AnyNode): Steps<string> {
  if (!('parentNode' in node)) return yield* writingInnerXml(node)
  return isElement(node) ? yield* xmlWriter().writing(node, yield* findingOwed(node)) : leaf(node)
}

/** @returns markup of the node's children, to be read with the namespaces in scope at the node */
export function innerXml(node: AnyNode): string {
  return atOnce(writingInnerXml(node))
}

/** `innerXml` in steps. */
export function* writingInnerXml(node: AnyNode): Steps<string> {
  if (!('childNodes' in node)) return ''
  if (isElement(node)) return yield* xmlWriter(inScopeNamespaces(node)).writingAll(node.childNodes)
  const texts: string[] = []
  for (const child of node.childNodes) texts.push(yield* writingXml(child))
  return texts.join(node.nodeName === '#document' ? '\n' : '')
}

/** An element that is being looked into. */
interface Level {
  nodes: readonly ChildNode[]
  next: number
  /** The prefixes that it declares. */
  own: string[]
}

/** What the element's names take from declarations outside it. */
function* findingOwed(cut: ElementNode): Steps<Bindings> {
  const needed: Bindings = new Map()
  // How many open elements declare each prefix.
  const declared = new Map<string, number>([['xml', 1]])
  const declare = (prefixes: readonly string[], by: number): void => {
    for (const prefix of prefixes) declared.set(prefix, (declared.get(prefix) ?? 0) + by)
  }
  const need = (prefix: string, namespace: string): void => {
    if (!declared.get(prefix) && !needed.has(prefix)) needed.set(prefix, namespace)
  }
  const enter = (node: ElementNode): string[] => {
    const own = node.attrs.map(declaredPrefix).filter(prefix => prefix !== undefined)
    declare(own, 1)
    need(prefixOf(node.tagName), node.namespaceURI)
    for (const a of node.attrs) if (isPrefixed(a)) need(a.prefix, a.namespace)
    return own
  }
  const open: Level[] = [{ nodes: cut.childNodes, next: 0, own: enter(cut) }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      declare(level.own, -1)
      open.pop()
    } else if (isElement(node)) {
      if (++seen % NODES_PER_STEP === 0) yield
      open.push({ nodes: node.childNodes, next: 0, own: enter(node) })
    }
  }
  return needed
}

interface XmlWriter {
  /** @param declarations what to declare on the start tag beside the element's own attributes */
  writing(node: ElementNode, declarations?: Bindings): Steps<string>
  writingAll(nodes: readonly ChildNode[]): Steps<string>
}

/** @param context namespaces in scope where the text will stand */
function xmlWriter(context: Bindings = new Map()): XmlWriter {
  const scope: Bindings = new Map([['', ''], ['xml', XML_NAMESPACE], ...context])
  /** What the declarations of open elements have hidden. */
  const hidden: [prefix: string, namespace: string | undefined][] = []

  const bind = (prefix: string, namespace: string): void => {
    hidden.push([prefix, scope.get(prefix)])
    scope.set(prefix, namespace)
  }

  /** @returns the declaration of a prefix that means something else, or nothing, where the text will stand */
  const ensure = (prefix: string, namespace: string): string => {
    if (scope.get(prefix) === namespace) return ''
    bind(prefix, namespace)
    return ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(namespace)}"`
  }

  /**
   * @param values of the attributes, if they are written already
   * @returns the start tag without its end
   */
  const enter = (node: ElementNode, declarations?: Bindings, values?: readonly string[]): string => {
    let tag = `<${node.tagName}`
    node.attrs.forEach((a, i) => {
      const prefix = declaredPrefix(a)
      if (prefix !== undefined) bind(prefix, a.value.trim())
      tag += ` ${a.prefix ? `${a.prefix}:${a.name}` : a.name}="${values?.[i] ?? escapeAttribute(a.value)}"`
    })
    for (const [prefix, namespace] of declarations ?? []) tag += ensure(prefix, namespace)
    tag += ensure(prefixOf(node.tagName), node.namespaceURI)
    for (const a of node.attrs) if (isPrefixed(a)) tag += ensure(a.prefix, a.namespace)
    return tag
  }

  /** Ends the scope of an element. */
  const leave = (outer: number): void => {
    while (hidden.length > outer) {
      const [prefix, namespace] = hidden.pop() ?? ['', '']
      if (namespace === undefined) scope.delete(prefix)
      else scope.set(prefix, namespace)
    }
  }

  const element = (node: ElementNode, declarations?: Bindings): string => {
    const outer = hidden.length
    const tag = enter(node, declarations)
    let content = ''
    for (const child of node.childNodes) content += isElement(child) ? element(child) : leaf(child)
    leave(outer)
    return enclosed(node, tag, content)
  }

  const writing = function* (node: ElementNode, declarations?: Bindings): Steps<string> {
    if (isShort(node)) return element(node, declarations)
    const outer = hidden.length
    const tag = enter(node, declarations, yield* writingValues(node))
    const content = yield* writingAll(node.childNodes)
    leave(outer)
    return enclosed(node, tag, content)
  }

  const writingAll = function* (nodes: readonly ChildNode[]): Steps<string> {
    const markup = new LongText()
    for (const node of nodes)
      if (isText(node) && node.value.length > LONG) yield* writingText(node.value, markup, escapeText)
      else if (markup.add(isElement(node) ? yield* writing(node) : leaf(node))) yield
    return markup.whole
  }

  return { writing, writingAll }
}

/** The values of the attributes as they are written, where one of them is long. */
function* writingValues({ attrs }: ElementNode): Steps<string[] | undefined> {
  if (!attrs.some(({ value }) => value.length > LONG)) return undefined
  const values: string[] = []
  for (const { value } of attrs) {
    const markup = new LongText()
    yield* writingText(value, markup, escapeAttribute)
    values.push(markup.whole)
  }
  return values
}

/** @param tag the start tag without its end */
function enclosed({ childNodes, tagName }: ElementNode, tag: string, content: string): string {
  return childNodes.length === 0 ? `${tag}/>` : `${tag}>${content}</${tagName}>`
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
