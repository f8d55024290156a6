/** Trees to XML text that parses to the same tree again, also when an element is cut out of its document. */

import { isForeign } from './foreign-names.ts'
import { isShort, LONG, LongText, writingText } from './long-text.ts'
import { declaredPrefix, inScopeNamespaces, prefixOf, XML_NAMESPACE } from './namespaces.ts'
import { type AnyNode, type Attribute, type ChildNode, type ElementNode, isElement, isText } from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'
import { isNamespace, isXmlAttribute, xmlComment, xmlTagName } from './xml-names.ts'

/** Namespace by prefix; `''` is the default namespace. */
type Bindings = Map<string, string>

/**
 * @returns markup of the node itself; of a document, that of its children. An element stands by itself: declarations
 *   outside it that names inside it need are added to its start tag.
 */
export function outerXml(node: AnyNode): string {
  const markup = new LongText()
  atOnce(writingXml(node, markup))
  return markup.whole
}

/**
 * Adds `outerXml` to a text, in steps.
 *
 * @param around the default namespace of the place, where the text will stand in one that is known
 */
export function* writingXml(node: AnyNode, markup: LongText, around = ''): Steps<void> {
  if (!('parentNode' in node)) yield* writingInnerXml(node, markup)
  else if (isElement(node)) yield* xmlWriter(markup, new Map([['', around]])).writing(node, yield* findingOwed(node))
  else yield* writingLeaf(node, markup)
}

/** @returns markup of the node's children, to be read with the namespaces in scope at the node */
export function innerXml(node: AnyNode): string {
  const markup = new LongText()
  atOnce(writingInnerXml(node, markup))
  return markup.whole
}

/** Adds `innerXml` to a text, in steps. */
export function* writingInnerXml(node: AnyNode, markup: LongText): Steps<void> {
  if (!('childNodes' in node)) return
  if (isElement(node)) return yield* xmlWriter(markup, inScopeNamespaces(node)).writingAll(node.childNodes)
  let between = ''
  for (const child of node.childNodes) {
    markup.add(between)
    if (node.nodeName === '#document') between = '\n'
    yield* writingXml(child, markup)
  }
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
    const own = node.attrs.map(a => declaredPrefix(a) ?? declaredInHtml(a)).filter(prefix => prefix !== undefined)
    declare(own, 1)
    need(prefixOf(xmlTagName(node)), node.namespaceURI)
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

/** What the name of an attribute begins with that declares a prefix; scopes know by it what HTML's parser has read. */
const DECLARES = 'xmlns:'

/** The prefix that an attribute declares which HTML's parser has read: elements of HTML are in no namespace of its. */
function declaredInHtml({ name, prefix, value }: Attribute): string | undefined {
  if (prefix || !name.startsWith(DECLARES) || !isXmlAttribute(name, value, () => false)) return undefined
  return name.slice(DECLARES.length)
}

interface XmlWriter {
  /** @param declarations what to declare on the start tag beside the element's own attributes */
  writing(node: ElementNode, declarations?: Bindings): Steps<void>
  writingAll(nodes: readonly ChildNode[]): Steps<void>
}

/**
 * @param markup where it writes to
 * @param context namespaces in scope where the text will stand
 */
function xmlWriter(markup: LongText, context: Bindings = new Map()): XmlWriter {
  const scope: Bindings = new Map([['', ''], ['xml', XML_NAMESPACE], ...context])
  /** What the declarations of open elements have hidden. */
  const hidden: [prefix: string, namespace: string | undefined][] = []

  const bind = (prefix: string, namespace: string): void => {
    hidden.push([prefix, scope.get(prefix)])
    scope.set(prefix, namespace)
  }

  /** @returns the declaration of a prefix that means something else, or nothing, where the text will stand */
  const ensure = (prefix: string, namespace: string): string => {
    if (scope.get(prefix) === namespace || scope.has(DECLARES + prefix)) return ''
    bind(prefix, namespace)
    return ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(namespace)}"`
  }

  /** @returns the declarations that the start tag needs beside the element's own attributes */
  const enter = (node: ElementNode, declarations?: Bindings): string => {
    for (const a of node.attrs) {
      const prefix = declaredPrefix(a)
      if (prefix !== undefined && isWritable(a, node)) bind(prefix, boundTo(a))
      const written = declaredInHtml(a)
      if (written !== undefined) bind(DECLARES + written, boundTo(a))
    }
    let owed = ''
    for (const [prefix, namespace] of declarations ?? []) owed += ensure(prefix, namespace)
    owed += ensure(prefixOf(xmlTagName(node)), node.namespaceURI)
    for (const a of node.attrs) if (isPrefixed(a)) owed += ensure(a.prefix, a.namespace)
    return owed
  }

  const isBound = (prefix: string): boolean => scope.has(prefix) || scope.has(DECLARES + prefix)

  /** What HTML has and XML cannot have is left out. */
  const isWritable = (a: Attribute, node: ElementNode): boolean => {
    if (node.isCommon && isForeign(a.name)) return false
    if (a.prefix) return a.name !== 'xlink' || a.prefix !== 'xmlns' || isXlink(a, node)
    if (a.name === 'xmlns') return isDefault(a.value.trim(), node)
    return isXmlAttribute(a.name, a.value, isBound)
  }

  /** Attributes as XML can have them: two that HTML's parser tells apart by their prefixes may have one name there. */
  const writable = (node: ElementNode): readonly Attribute[] => {
    const { attrs } = node
    const all = attrs.every(a => isWritable(a, node)) ? attrs : attrs.filter(a => isWritable(a, node))
    if (!all.some(isUnread)) return all
    const taken = new Set(all.filter(isPrefixed).map(({ name, namespace }) => `${name} ${namespace}`))
    return all.filter(a => {
      if (!isUnread(a)) return true
      const [prefix, local] = [prefixOf(a.name), a.name.slice(a.name.indexOf(':') + 1)]
      const namespaces = [scope.get(prefix), scope.get(DECLARES + prefix)].filter(each => each !== undefined)
      const names = namespaces.map(namespace => `${local} ${namespace}`)
      const isTwin = names.some(name => taken.has(name))
      for (const name of names) taken.add(name)
      return !isTwin
    })
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
    const owed = enter(node, declarations)
    const name = xmlTagName(node)
    let tag = `<${name}`
    for (const a of writable(node)) tag += `${beforeValue(a)}${escapeAttribute(a.value)}"`
    let content = ''
    for (const child of node.childNodes) content += isElement(child) ? element(child) : leaf(child)
    leave(outer)
    return tag + owed + (node.childNodes.length === 0 ? '/>' : `>${content}</${name}>`)
  }

  const writing = function* (node: ElementNode, declarations?: Bindings): Steps<void> {
    if (isShort(node)) {
      if (markup.add(element(node, declarations))) yield
      return
    }
    const outer = hidden.length
    const owed = enter(node, declarations)
    const name = xmlTagName(node)
    markup.add(`<${name}`)
    for (const a of writable(node)) {
      markup.add(beforeValue(a))
      yield* writingText(a.value, markup, escapeAttribute)
      markup.add('"')
    }
    const isEmpty = node.childNodes.length === 0
    markup.add(owed + (isEmpty ? '/>' : '>'))
    yield* writingAll(node.childNodes)
    leave(outer)
    if (!isEmpty && markup.add(`</${name}>`)) yield
  }

  const writingAll = function* (nodes: readonly ChildNode[]): Steps<void> {
    for (const node of nodes) yield* isElement(node) ? writing(node) : writingLeaf(node, markup)
  }

  return { writing, writingAll }
}

/** A space, the name of an attribute, and what opens its value. */
function beforeValue({ prefix, name }: Attribute): string {
  return ` ${prefix ? `${prefix}:${name}` : name}="`
}

/** Adds `leaf` to a text, in steps. */
function* writingLeaf(node: Exclude<ChildNode, ElementNode>, markup: LongText): Steps<void> {
  if (isText(node) && node.value.length > LONG) yield* writingText(node.value, markup, escapeText)
  else if (markup.add(leaf(node))) yield
}

function leaf(node: Exclude<ChildNode, ElementNode>): string {
  switch (node.nodeName) {
    case '#text':
      return escapeText(node.value)
    case '#comment':
      return `<!--${xmlComment(node.data).replace(ILLEGAL, '\ufffd')}-->`
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

/** Whether the attribute has a prefix of which HTML's parser knows nothing. */
function isUnread({ prefix, name }: Attribute): boolean {
  return !prefix && name.includes(':') && !name.startsWith(DECLARES)
}

/** The namespace that a declaration binds its prefix to where it is read again. */
function boundTo({ value }: Attribute): string {
  return value.trim().replace(ILLEGAL, '\ufffd')
}

/** Whether XML can have a default namespace declared: for HTML an attribute, which its elements say nothing of. */
function isDefault(namespace: string, node: ElementNode): boolean {
  if (prefixOf(xmlTagName(node)) === '') return namespace === node.namespaceURI
  return namespace === '' || isNamespace(namespace)
}

/** Whether XML can have the declaration of `xlink`: the parser of HTML makes one of any value, in SVG and MathML. */
function isXlink(declaration: Attribute, { attrs }: ElementNode): boolean {
  return isNamespace(declaration.value) && !attrs.some(other => isElsewhere(other, declaration))
}

/** Whether the attribute has the prefix of a declaration beside it, and another namespace: HTML's parser gives one to `xlink`. */
function isElsewhere({ prefix, namespace }: Attribute, declaration: Attribute): boolean {
  return prefix === declaration.name && namespace !== declaration.value.trim()
}

function doctype(name: string, publicId: string, systemId: string): string {
  const quoted = systemId.includes('"') ? `'${systemId}'` : `"${systemId}"`
  if (publicId !== '') return `<!DOCTYPE ${name} PUBLIC "${publicId}" ${quoted}>`
  return systemId === '' ? `<!DOCTYPE ${name}>` : `<!DOCTYPE ${name} SYSTEM ${quoted}>`
}

// A literal carriage return would be read as a line feed; in attributes all white space would be read as spaces.
const IN_TEXT = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g
const IN_ATTRIBUTE = /[&<>"\t\n\r\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g
/** Characters that no XML document may hold; HTML and programs may (XML 1.0, section 2.2). */
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const REFERENCES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Controls that XML 1.1, which a document may declare, has as references alone. */
const CONTROL = /[\u007f-\u009f]/

function reference(character: string): string {
  return REFERENCES[character] ?? (CONTROL.test(character) ? `&#${character.charCodeAt(0)};` : '\ufffd')
}

function escapeText(text: string): string {
  return text.replace(IN_TEXT, reference)
}

/** @returns the value of an attribute as it is written between double quotes */
export function escapeAttribute(value: string): string {
  return value.replace(IN_ATTRIBUTE, reference)
}
