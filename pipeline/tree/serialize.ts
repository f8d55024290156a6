/** Trees to text: markup by the rules of the document's kind, and plain text content. */

import { inOnePiece, LongText } from './long-text.ts'
import {
  type AnyNode,
  type DocumentKind,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  type ParentNode,
  type TreeDocument,
} from './nodes.ts'
import { innerHtml, outerHtml, writingHtml, writingInnerHtml } from './serialize-html.ts'
import { innerXml, outerXml, writingInnerXml, writingXml } from './serialize-xml.ts'
import type { Stretches } from './source-text.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'
import { writtenDeclaration } from './xml-declaration.ts'

export { equalTrees } from './compare.ts'

/**
 * Markup of a node that parses to exactly this node, without white space outside (HTTP-24). An XML element carries the
 * namespace declarations of its ancestors that it needs.
 */
export function outerMarkup(node: AnyNode, kind: DocumentKind): string {
  return kind === 'xml' ? outerXml(node) : outerHtml(node)
}

/** Is told how many UTF-16 code units have been written, as long as more are to come; what it throws ends the writing. */
export type Paying = (units: number) => void

/** `outerMarkup` in steps. Whoever reads the whole puts it together in one: `writingStretches` is for what may be long. */
export function* writingMarkup(node: AnyNode, kind: DocumentKind, pay?: Paying): Steps<string> {
  const markup = new LongText()
  yield* paid(markup, outer(node, kind, markup), pay)
  return markup.whole
}

/** What code has built holds the same text many times, of which escapes write up to six code units for one. */
function* paid(markup: LongText, writing: Steps<unknown>, pay: Paying = () => undefined): Steps<void> {
  let known = 0
  for (const pause of writing) {
    pay(markup.length - known)
    known = markup.length
    yield pause
  }
  pay(markup.length - known)
}

/** `outerMarkup` in steps, for those who read a part at a time. */
export function* writingStretches(node: AnyNode, kind: DocumentKind): Steps<Stretches> {
  return (yield* outer(node, kind)).stretches
}

/** `writingStretches`; undefined where it is longer than so many UTF-16 code units, which is found out in as many. */
export function* writingStretchesAtMost(node: AnyNode, kind: DocumentKind, most: number): Steps<Stretches | undefined> {
  const markup = new LongText()
  return (yield* stayingWithin(markup, outer(node, kind, markup), most)) ? markup.stretches : undefined
}

/** `writingStretches` of what comes into a document: in XML an element of HTML, as code makes it, takes the namespace of its place. */
export function* writingFragment(node: ElementNode, kind: DocumentKind): Steps<Stretches> {
  if (kind === 'html' || node.namespaceURI !== HTML_NAMESPACE) return yield* writingStretches(node, kind)
  const markup = new LongText()
  yield* writingXml(node, markup, HTML_NAMESPACE)
  return markup.stretches
}

function* outer(node: AnyNode, kind: DocumentKind, markup = new LongText()): Steps<LongText> {
  yield* kind === 'xml' ? writingXml(node, markup) : writingHtml(node, markup)
  return markup
}

/** `outerMarkup` in steps; undefined where it is longer than so many UTF-16 code units, which is found out in as many. */
export function* writingAtMost(node: AnyNode, kind: DocumentKind, most: number): Steps<string | undefined> {
  const markup = new LongText()
  return (yield* stayingWithin(markup, outer(node, kind, markup), most)) ? markup.whole : undefined
}

function* stayingWithin(markup: LongText, writing: Steps<unknown>, most: number): Steps<boolean> {
  for (const pause of writing) {
    if (markup.length > most) return false
    yield pause
  }
  return markup.length <= most
}

/** Markup of a node's children (of the contents of a `template`), to be read in the context of the node. */
export function innerMarkup(node: AnyNode, kind: DocumentKind): string {
  return kind === 'xml' ? innerXml(node) : innerHtml(node)
}

/** `innerMarkup` in steps. */
export function* writingInnerMarkup(node: AnyNode, kind: DocumentKind, pay?: Paying): Steps<string> {
  const markup = new LongText()
  yield* paid(markup, inner(node, kind, markup), pay)
  return markup.whole
}

function inner(node: AnyNode, kind: DocumentKind, markup: LongText): Steps<void> {
  return kind === 'xml' ? writingInnerXml(node, markup) : writingInnerHtml(node, markup)
}

/** Markup of the whole document as its tree stands; an XML declaration is taken over from the source, but for its encoding. */
export function serializeDocument(document: TreeDocument): string {
  return declarationOf(document) + innerMarkup(document.root, document.kind)
}

/** `serializeDocument` in steps, for those who read a part at a time. */
export function* writingDocument(document: TreeDocument): Steps<Stretches> {
  return (yield* whole(document)).stretches
}

/** `writingDocument`; undefined where it is longer than so many UTF-16 code units, which is found out in as many. */
export function* writingDocumentAtMost(document: TreeDocument, most: number): Steps<Stretches | undefined> {
  const markup = new LongText()
  return (yield* stayingWithin(markup, whole(document, markup), most)) ? markup.stretches : undefined
}

/** `serializeDocument` in steps. */
export function* writingWholeDocument(document: TreeDocument): Steps<string> {
  return (yield* whole(document)).whole
}

function* whole(document: TreeDocument, markup = new LongText()): Steps<LongText> {
  markup.add(declarationOf(document))
  yield* inner(document.root, document.kind, markup)
  return markup
}

function declarationOf({ kind, source }: TreeDocument): string {
  const declaration = kind === 'xml' ? writtenDeclaration(source) : ''
  return declaration && `${declaration}\n`
}

/** The text of a node and all below it, in order; the contents of templates are not below them. */
export function textContent(node: AnyNode): string {
  if (isText(node)) return node.value
  if (!('childNodes' in node)) return ''
  const [only] = node.childNodes
  if (only && node.childNodes.length === 1) return textContent(only)
  const text = { whole: '' }
  addTexts(node, text)
  // In as many pieces as there are nodes, it would take far more memory: of values in each other, once for each.
  return inOnePiece(text.whole)
}

function addTexts({ childNodes }: ParentNode, text: { whole: string }): void {
  for (const child of childNodes)
    if (isText(child)) text.whole += child.value
    else if (isElement(child)) addTexts(child, text)
}

/** `textContent` in steps. */
export function* gatheringText(node: AnyNode): Steps<string> {
  const text = new LongText()
  let seen = 0
  function* gather(each: AnyNode): Steps<void> {
    if (!('childNodes' in each)) return
    for (const child of each.childNodes) {
      const isDue = ++seen % NODES_PER_STEP === 0
      if ((isText(child) && text.add(child.value)) || isDue) yield
      if (isElement(child)) yield* gather(child)
    }
  }
  if (isText(node)) return node.value
  yield* gather(node)
  return text.whole
}
