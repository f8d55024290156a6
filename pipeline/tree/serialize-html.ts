/** Trees to HTML text by the serialization algorithm of the HTML standard. */

import { asciiLower } from './ascii.ts'
import { isShort, LONG, type LongText, writingText } from './long-text.ts'
import {
  type AnyNode,
  type Attribute,
  type ChildNode,
  type CommentNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  type ParentNode,
} from './nodes.ts'
import { isRaw, noteContent, TEXT_ONLY } from './raw-text.ts'
import type { Steps } from './steps.ts'

const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
)

/** The parser drops a line feed right behind these start tags. */
const LEADING_LINE_FEED = new Set(['pre', 'textarea', 'listing'])

/** What HTML's parser takes for the end of a comment before its end; its own comments never hold it. */
const ENDS_COMMENT = /^-?>|--!?>/

const ENDS_TEXT = new RegExp(`</(${[...TEXT_ONLY].join('|')})`, 'i')

/** Whether HTML elements of this name never have an end tag nor content. */
export function isVoidName(tagName: string): boolean {
  return VOID.has(tagName)
}

/** Whether the element never has an end tag nor content. */
export function isVoid(element: ElementNode): boolean {
  return VOID.has(element.tagName) && element.namespaceURI === HTML_NAMESPACE && element.writtenAs === undefined
}

/** @returns markup of the node itself; of a document or fragment, that of its children */
export function outerHtml(node: AnyNode): string {
  if (!('parentNode' in node)) return innerHtml(node)
  return one(node, node.parentNode !== null && isElement(node.parentNode) && isRaw(node.parentNode))
}

/** Adds `outerHtml` to a text, in steps. */
export function* writingHtml(node: AnyNode, markup: LongText): Steps<void> {
  if (!('tagName' in node) || isShort(node)) {
    if (markup.add(outerHtml(node))) yield
    return
  }
  yield* writingStart(node, markup)
  if (isVoid(node)) return
  yield* writingContent(node, markup)
  if (markup.add(endTag(node))) yield
}

/** Adds `innerHtml` to a text, in steps. */
export function* writingInnerHtml(node: AnyNode, markup: LongText): Steps<void> {
  if (!('childNodes' in node)) return
  if (!isElement(node)) yield* writingAll(node.childNodes, false, markup)
  else if (!isVoid(node)) yield* writingContent(node, markup)
}

function* writingContent(element: ElementNode, markup: LongText): Steps<void> {
  const nodes = contentNodes(element)
  const [first] = nodes
  if (first && isText(first)) markup.add(beforeFirstLine(element, first.value))
  yield* writingAll(nodes, isRaw(element), markup)
}

function* writingAll(nodes: readonly ChildNode[], raw: boolean, markup: LongText): Steps<void> {
  for (const node of nodes)
    if (isText(node) && !raw && node.value.length > LONG) yield* writingText(node.value, markup, escapeText)
    else if (isElement(node) && !isShort(node)) yield* writingHtml(node, markup)
    else if (markup.add(one(node, raw))) yield
}

/** @returns markup of the node's children; of a `template`, that of its contents */
export function innerHtml(node: AnyNode): string {
  if (!('childNodes' in node)) return ''
  if (!isElement(node)) return all(node.childNodes, false)
  return isVoid(node) ? '' : content(node)
}

function content(element: ElementNode): string {
  const markup = all(contentNodes(element), isRaw(element))
  return beforeFirstLine(element, markup) + markup
}

function contentNodes(element: ElementNode): ChildNode[] {
  if (element.namespaceURI !== HTML_NAMESPACE || !element.content) return element.childNodes
  noteContent(element, element.content)
  return element.content.childNodes
}

/** The standard leaves this out, and the text would lose its first line when it is read again. */
function beforeFirstLine(element: ElementNode, text: string): string {
  return element.namespaceURI === HTML_NAMESPACE && LEADING_LINE_FEED.has(nameIn(element)) && text.startsWith('\n')
    ? '\n'
    : ''
}

function all(nodes: ChildNode[], raw: boolean): string {
  let markup = ''
  for (const node of nodes) markup += one(node, raw)
  return markup
}

function one(node: ChildNode, raw: boolean): string {
  if (isElement(node)) {
    return isVoid(node) ? startTag(node) : startTag(node) + content(node) + endTag(node)
  }
  switch (node.nodeName) {
    case '#text':
      return raw ? node.value : escapeText(node.value)
    case '#comment':
      return `<!--${comment(node)}-->`
    case '#documentType':
      return doctype(node.name, node.publicId, node.systemId)
    default:
      return `<?${node.target} ${escapeText(node.data)}>`
  }
}

/** Comments of XML documents and of programs may hold what would be elements here, which nothing has judged (MOD-94). */
function comment(node: CommentNode): string {
  const { data } = node
  return ENDS_COMMENT.test(data) || (ENDS_TEXT.test(data) && isInText(node)) ? escapeText(data) : data
}

function isInText({ parentNode }: CommentNode): boolean {
  for (let node: ParentNode | null = parentNode; node && isElement(node); node = node.parentNode)
    if (TEXT_ONLY.has(asciiLower(node.tagName))) return true
  return false
}

/** The name in its tags. */
function nameIn({ tagName, writtenAs }: ElementNode): string {
  return writtenAs ?? tagName
}

function endTag(element: ElementNode): string {
  return `</${nameIn(element)}>`
}

function startTag(element: ElementNode): string {
  let markup = `<${nameIn(element)}`
  for (const a of element.attrs) markup += `${beforeValue(a)}${escapeAttribute(a.value)}"`
  return `${markup}>`
}

/** Adds `startTag` to a text, in steps. */
export function* writingStart(element: ElementNode, markup: LongText): Steps<void> {
  const { attrs } = element
  let length = 0
  for (const { value } of attrs) length += value.length
  if (length <= LONG) {
    if (markup.add(startTag(element))) yield
    return
  }
  markup.add(`<${nameIn(element)}`)
  for (const a of attrs) {
    if (markup.add(beforeValue(a))) yield
    yield* writingText(a.value, markup, escapeAttribute)
    markup.add('"')
  }
  markup.add('>')
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
