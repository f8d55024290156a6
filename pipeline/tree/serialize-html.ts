/** Trees to HTML text by the serialization algorithm of the HTML standard. */

import { isShort, LONG, LongText, writingText } from './long-text.ts'
import {
  type AnyNode,
  type Attribute,
  type ChildNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
} from './nodes.ts'
import type { Steps } from './steps.ts'

const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
)

/** Their text stands in the source as it is; `noscript` because trees are parsed with the scripting flag on. */
const RAW = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'plaintext'])

/** The parser drops a line feed right behind these start tags. */
const LEADING_LINE_FEED = new Set(['pre', 'textarea', 'listing'])

/** Whether HTML elements of this name never have an end tag nor content. */
export function isVoidName(tagName: string): boolean {
  return VOID.has(tagName)
}

/** Whether the element never has an end tag nor content. */
export function isVoid(element: ElementNode): boolean {
  return VOID.has(element.tagName) && element.namespaceURI === HTML_NAMESPACE
}

function isRaw(element: ElementNode): boolean {
  return RAW.has(element.tagName) && element.namespaceURI === HTML_NAMESPACE
}

/** @returns markup of the node itself; of a document or fragment, that of its children */
export function outerHtml(node: AnyNode): string {
  if (!('parentNode' in node)) return innerHtml(node)
  return one(node, node.parentNode !== null && isElement(node.parentNode) && isRaw(node.parentNode))
}

/** `outerHtml` in steps. */
export function* writingHtml(node: AnyNode): Steps<string> {
  if (!('tagName' in node) || isShort(node)) return outerHtml(node)
  const start = yield* writingStart(node)
  return isVoid(node) ? start : enclosed(node, start, yield* writingAll(contentNodes(node), isRaw(node)))
}

/** `innerHtml` in steps. */
export function* writingInnerHtml(node: AnyNode): Steps<string> {
  if (!('childNodes' in node)) return ''
  if (!isElement(node)) return yield* writingAll(node.childNodes, false)
  return isVoid(node) ? '' : withFirstLine(node, yield* writingAll(contentNodes(node), isRaw(node)))
}

function* writingAll(nodes: readonly ChildNode[], raw: boolean): Steps<string> {
  const markup = new LongText()
  for (const node of nodes) {
    if (isText(node) && !raw && node.value.length > LONG) {
      yield* writingText(node.value, markup, escapeText)
      continue
    }
    const isLong = isElement(node) && !isShort(node)
    if (markup.add(isLong ? yield* writingHtml(node) : one(node, raw))) yield
  }
  return markup.whole
}

/** @returns markup of the node's children; of a `template`, that of its contents */
export function innerHtml(node: AnyNode): string {
  if (!('childNodes' in node)) return ''
  if (!isElement(node)) return all(node.childNodes, false)
  return isVoid(node) ? '' : content(node)
}

function content(element: ElementNode): string {
  return withFirstLine(element, all(contentNodes(element), isRaw(element)))
}

function contentNodes(element: ElementNode): ChildNode[] {
  return (element.namespaceURI === HTML_NAMESPACE && element.content ? element.content : element).childNodes
}

function withFirstLine(element: ElementNode, markup: string): string {
  const isHtml = element.namespaceURI === HTML_NAMESPACE
  // The standard leaves this out, and the text would lose its first line when it is read again.
  return isHtml && LEADING_LINE_FEED.has(element.tagName) && markup.startsWith('\n') ? `\n${markup}` : markup
}

function all(nodes: ChildNode[], raw: boolean): string {
  let markup = ''
  for (const node of nodes) markup += one(node, raw)
  return markup
}

function one(node: ChildNode, raw: boolean): string {
  if (isElement(node)) {
    if (isVoid(node)) return startTag(node)
    return enclosed(node, startTag(node), all(contentNodes(node), isRaw(node)))
  }
  switch (node.nodeName) {
    case '#text':
      return raw ? node.value : escapeText(node.value)
    case '#comment':
      return `<!--${node.data}-->`
    case '#documentType':
      return doctype(node.name, node.publicId, node.systemId)
    default:
      return `<?${node.target} ${node.data}>`
  }
}

/** An element around its content. */
function enclosed(element: ElementNode, start: string, markup: string): string {
  return `${start}${withFirstLine(element, markup)}</${element.tagName}>`
}

function startTag({ tagName, attrs }: ElementNode): string {
  let markup = `<${tagName}`
  for (const a of attrs) markup += `${beforeValue(a)}${escapeAttribute(a.value)}"`
  return `${markup}>`
}

/** `startTag` in steps. */
function* writingStart(element: ElementNode): Steps<string> {
  const { tagName, attrs } = element
  if (!attrs.some(({ value }) => value.length > LONG)) return startTag(element)
  const markup = new LongText()
  markup.add(`<${tagName}`)
  for (const a of attrs) {
    markup.add(beforeValue(a))
    yield* writingText(a.value, markup, escapeAttribute)
    markup.add('"')
  }
  return `${markup.whole}>`
}

/** A space, the name of an attribute, and what opens its value. */
function beforeValue({ prefix, name }: Attribute): string {
  return ` ${prefix ? `${prefix}:${name}` : name}="`
}

/** The standard writes the name alone; without its identifiers the document would be read in another quirks mode. */
function doctype(name: string, publicId: string, systemId: string): string {
  const system = systemId === '' ? '' : ` ${quoted(systemId)}`
  if (publicId !== '') return `<!DOCTYPE ${name} PUBLIC ${quoted(publicId)}${system}>`
  return system === '' ? `<!DOCTYPE ${name}>` : `<!DOCTYPE ${name} SYSTEM${system}>`
}

function quoted(identifier: string): string {
  return identifier.includes('"') ? `'${identifier}'` : `"${identifier}"`
}

const IN_TEXT = /[&<>\u00a0]/g
const IN_ATTRIBUTE = /[&<>"\u00a0]/g
const REFERENCES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' }

function reference(character: string): string {
  return REFERENCES[character] ?? character
}

function escapeText(text: string): string {
  return text.replace(IN_TEXT, reference)
}

function escapeAttribute(value: string): string {
  return value.replace(IN_ATTRIBUTE, reference)
}
