/** From what was asked to a plan: whether it can be asked at all, the nodes of the body, the places in the source. */

import { asciiLower, isBlank } from '../ascii.ts'
import { comparing } from '../compare.ts'
import { parsingFragment } from '../fragment.ts'
import {
  type ChildNode,
  type ElementNode,
  elementAlone,
  isElement,
  type ParentNode,
  rootElement,
  type Span,
  type TreeDocument,
} from '../nodes.ts'
import { boundIn } from '../prefixed-parser.ts'
import { parsingFragmentAlike } from '../readings.ts'
import { isVoid } from '../serialize-html.ts'
import { textOf } from '../source-text.ts'
import type { Steps } from '../steps.ts'
import { ChangedDocument, EditError, refusing } from './error.ts'
import { keptMove, keptText } from './kept-text.ts'
import { dropsLineFeed, tagsOwed, textsWithout, writingMarkupIn, writingTexts } from './markup.ts'
import type { Plan, Site } from './plan.ts'
import { planningRoot, planningShell, shellName } from './root.ts'
import { contentOf, endsWithTag, isHtmlElement, isSelfClosed } from './shape.ts'
import type { Tail } from './tail.ts'

/** Where new nodes stand: inside the anchor behind its last or before its first child node, or beside it. */
export type Placement = 'append' | 'prepend' | 'before' | 'after'

/** A change of one element of a document. Nodes belong to the document's present tree; texts are of its kind. */
export type Edit = (
  | { op: 'replace'; target: ElementNode; text: string }
  | { op: 'insert'; anchor: ElementNode; placement: Placement; text: string }
  | { op: 'remove'; target: ElementNode }
  | { op: 'move'; source: ElementNode; anchor: ElementNode; placement: Placement }
) & {
  /**
   * Whether elements end, and markup is read, as composition does it (COMP-6). Where that is not known, text that is spliced
   * keeps both readings, and nothing is written anew that composition would read otherwise.
   */
  asWritten?: boolean
}

/** The elements of a document that an edit names. */
export function namedElements(wanted: Edit): ElementNode[] {
  switch (wanted.op) {
    case 'insert':
      return [wanted.anchor]
    case 'move':
      return [wanted.source, wanted.anchor]
    default:
      return [wanted.target]
  }
}

/** The same edit of another tree. @param same finds there what it names */
export function redirected(wanted: Edit, same: (element: ElementNode) => ElementNode): Edit {
  switch (wanted.op) {
    case 'insert':
      return { ...wanted, anchor: same(wanted.anchor) }
    case 'move':
      return { ...wanted, source: same(wanted.source), anchor: same(wanted.anchor) }
    default:
      return { ...wanted, target: same(wanted.target) }
  }
}

/**
 * The plan of an edit that somebody has made on an equal tree, and that has left the author's bytes as they are: what nodes
 * they become does not have to be found out before.
 *
 * @returns undefined where more than one place changes, or tags have to be written
 */
export function planAgain(document: TreeDocument, tail: Tail, edit: Edit): Plan | undefined {
  const site = siteAgain(document, tail, edit)
  if (!site) return undefined
  const text = 'text' in edit ? edit.text : ''
  site.texts = [{ way: 'splice', text }]
  return { sites: [site], nodes: [], parents: [site.parent], local: true, isShown: true }
}

function siteAgain(document: TreeDocument, tail: Tail, edit: Edit): Site | undefined {
  if (edit.op === 'move') return undefined
  if (edit.op === 'insert') {
    const { anchor, placement } = edit
    if (isSelfClosed(document, anchor)) return undefined
    checkAnchor(document, anchor, placement)
    const { at, ...place } = placeFor(document, tail, anchor, placement)
    const span = at === undefined ? undefined : { startOffset: at, endOffset: at }
    return { ...place, gone: 0, nodes: [], span, texts: [] }
  }
  const { target } = edit
  if (target === rootElement(document) || shellName(document, target)) return undefined
  return siteOf(target, parentOf(target), [], spanOf(tail, target))
}

/**
 * Makes a plan, in steps.
 *
 * @param tail the end of the document's body
 * @returns undefined when nothing changes
 * @throws EditError
 */
export function* planning(document: TreeDocument, tail: Tail, edit: Edit): Steps<Plan | undefined> {
  switch (edit.op) {
    case 'replace':
      return yield* planningReplacement(document, tail, edit.target, edit.text)
    case 'insert':
      return yield* planningInsertion(document, tail, edit.anchor, edit.placement, edit.text)
    case 'remove':
      return removePlan(document, tail, edit.target)
    case 'move':
      return yield* planningMove(document, tail, edit.source, edit.anchor, edit.placement)
  }
}

function* planningReplacement(document: TreeDocument, tail: Tail, target: ElementNode, text: string): Steps<Plan> {
  if (isBlank(text)) throw new EditError('empty', 'The body is empty.')
  const shell = shellName(document, target)
  if (shell) return yield* planningShell(document, tail, target, shell, text)
  if (target === rootElement(document)) return yield* planningRoot(document, target, text)
  const parent = parentOf(target)
  const context = contextFor(parent)
  const nodes = yield* refusing(parsingFragmentAlike(document, text, context))
  if (!nodes.some(isElement)) throw new EditError('no-element', 'The body has no element.')
  const site = siteOf(target, parent, nodes, spanOf(tail, target))
  const owed = tagsOwed(document, parent, parent.childNodes[site.index - 1])
  const raw = yield* keptText(document.kind, context, nodes, text)
  site.texts = yield* writingTexts(document.kind, context, nodes, raw, isFirst(context, site.span), owed)
  return { sites: [site], nodes, sent: text, parents: [parent], local: true }
}

function removePlan(document: TreeDocument, tail: Tail, target: ElementNode): Plan {
  if (target === rootElement(document)) throw new EditError('root', 'The root element cannot be removed.')
  const site = removal(document, tail, target)
  return { sites: [site], nodes: [], parents: [site.parent], local: true }
}

function* planningInsertion(
  document: TreeDocument,
  tail: Tail,
  anchor: ElementNode,
  placement: Placement,
  text: string,
): Steps<Plan> {
  checkAnchor(document, anchor, placement)
  if (isBlank(text)) throw new EditError('empty', 'The body is empty.')
  const context = placement === 'append' || placement === 'prepend' ? anchor : contextFor(parentOf(anchor))
  const nodes = yield* refusing(parsingFragmentAlike(document, text, context))
  if (nodes.length === 0) throw new EditError('empty', 'The body has no content.')
  const raw = yield* keptText(document.kind, context, nodes, text)
  return { ...(yield* insertion(document, tail, anchor, placement, nodes, raw)), sent: text }
}

function* planningMove(
  document: TreeDocument,
  tail: Tail,
  source: ElementNode,
  anchor: ElementNode,
  placement: Placement,
): Steps<Plan | undefined> {
  if (source === rootElement(document)) throw new EditError('root', 'The root element cannot be moved.')
  checkAnchor(document, anchor, placement)
  const beside = placement === 'before' || placement === 'after'
  if (anchor === source && beside) return undefined
  if (contains(source, anchor)) throw new EditError('into-itself', 'An element cannot be moved into itself.')
  const span = spanOf(tail, source)
  const written = span && textOf(document).slice(span.startOffset, span.endOffset)
  const context = beside ? contextFor(parentOf(anchor)) : anchor
  const moved =
    document.kind === 'xml'
      ? yield* bringingIntoScope(context, source, written)
      : {
          node: yield* readingInScope(document, context, source, written),
          text: written && (yield* refusing(keptMove(document, contextFor(parentOf(source)), context, written))),
        }
  const plan = yield* insertion(document, tail, anchor, placement, [moved.node], moved.text)
  const gone = removal(document, tail, source)
  return { ...plan, sites: [gone, ...plan.sites], parents: [...new Set([gone.parent, ...plan.parents])] }
}

/** Whether one element is the other or stands in it, contents of templates included. */
function contains(outer: ElementNode, inner: ElementNode): boolean {
  let node: ParentNode | null = inner
  while (node && isElement(node) && node !== outer) node = node.parentNode
  if (!node || node.nodeName === '#document') return false
  // Contents do not know their template.
  return node === outer || holdsContent(outer, node)
}

function holdsContent(element: ElementNode, content: ParentNode): boolean {
  if (element.content === content) return true
  return contentOf(element).childNodes.some(node => isElement(node) && holdsContent(node, content))
}

/** An XML element at another place: the same, unless its prefixes mean something else there. */
function* bringingIntoScope(
  context: ElementNode,
  source: ElementNode,
  written: string | undefined,
): Steps<{ node: ChildNode; text: string | undefined }> {
  try {
    if (written !== undefined) {
      const read = yield* parsingFragment('xml', written, context)
      if (yield* comparing(read, [source])) return { node: source, text: written }
    }
  } catch {
    // A prefix is not declared there.
  }
  const markup = yield* writingMarkupIn('xml', context, [source])
  const [node = source] = yield* refusing(parsingFragment('xml', markup, context))
  return { node, text: undefined }
}

/** An HTML element at another place: the same, unless prefixes in it are bound there and were not, or the other way round. */
function* readingInScope(
  document: TreeDocument,
  context: ElementNode,
  source: ElementNode,
  written: string | undefined,
): Steps<ElementNode> {
  if (!document.asWritten || written === undefined) return source
  const from = contextFor(parentOf(source))
  const [isBound, isBoundThere] = [boundIn(from), boundIn(context)]
  if (![...prefixesIn(written)].some(prefix => isBound(prefix) !== isBoundThere(prefix))) return source
  // Of what the parser has moved, the text says something else.
  const there = yield* refusing(parsingFragmentAlike(document, written, from))
  if (!(yield* comparing(there, [source]))) return source
  const [node, ...others] = yield* refusing(parsingFragmentAlike(document, written, context))
  const isOne = node !== undefined && isElement(node) && node.tagName === source.tagName && others.length === 0
  return isOne && !(yield* comparing([node], [source])) ? node : source
}

/** What stands before a colon in names of tags. */
function prefixesIn(text: string): Set<string> {
  const found = new Set<string>()
  for (const [, prefix = ''] of text.matchAll(/<([a-z][^\t\n\f\r /:<>]*):/gi)) found.add(asciiLower(prefix))
  return found
}

function* insertion(
  document: TreeDocument,
  tail: Tail,
  anchor: ElementNode,
  placement: Placement,
  nodes: ChildNode[],
  raw: string | undefined,
): Steps<Plan> {
  const isInside = placement === 'append' || placement === 'prepend'
  if (isInside && (isSelfClosed(document, anchor) || endsWithTag(document, anchor)))
    return yield* opening(document, anchor, nodes, raw)
  return yield* inserting(document, placeFor(document, tail, anchor, placement), nodes, raw)
}

/** A place between nodes; `at` is its offset in the source, if it has one. */
type Place = Pick<Site, 'host' | 'parent' | 'index'> & { at: number | undefined }

/** Where new nodes come. @param anchor has both tags, where they come into it */
function placeFor(document: TreeDocument, tail: Tail, anchor: ElementNode, placement: Placement): Place {
  if (placement === 'before' || placement === 'after') {
    const parent = parentOf(anchor)
    const span = spanOf(tail, anchor)
    const index = parent.childNodes.indexOf(anchor) + (placement === 'after' ? 1 : 0)
    return { host: hostOf(parent), parent, index, at: placement === 'after' ? span?.endOffset : span?.startOffset }
  }
  const parent = contentOf(anchor)
  const index = placement === 'append' ? parent.childNodes.length : 0
  const at = placement === 'append' ? endOfContent(document, tail, anchor) : startOfContent(document, tail, anchor)
  return { host: anchor, parent, index, at }
}

function* inserting(
  document: TreeDocument,
  { host, parent, index, at }: Place,
  nodes: ChildNode[],
  raw: string | undefined,
): Steps<Plan> {
  const context = host ?? contextFor(parent)
  const owed = tagsOwed(document, parent, parent.childNodes[index - 1])
  const span = at === undefined ? undefined : { startOffset: at, endOffset: at }
  const texts = yield* writingTexts(document.kind, context, nodes, raw, isFirst(context, span), owed)
  return { sites: [{ host, parent, index, gone: 0, nodes, span, texts }], nodes, parents: [parent], local: true }
}

/** A self-closed anchor, or a prefixed one without end tag, gets both its tags, and so is replaced. */
function* opening(
  document: TreeDocument,
  anchor: ElementNode,
  nodes: ChildNode[],
  raw: string | undefined,
): Steps<Plan> {
  const place = anchor.sourceCodeLocation
  const opened: ElementNode = { ...anchor, childNodes: nodes }
  const end = place?.endOffset ?? 0
  const slash = closingSlash(document, anchor, end)
  const name = /^<([^\t\n\f\r />]*)/.exec(document.source.slice(place?.startOffset, end))?.[1] ?? anchor.tagName
  const texts = yield* writingTexts(document.kind, anchor, nodes, raw, false, '')
  const parent = parentOf(anchor, true)
  const site = siteOf(anchor, parent, [opened], { startOffset: slash ?? end, endOffset: end })
  site.texts = texts.map(({ way, text }) => ({ way, text: `${slash === undefined ? '' : '>'}${text}</${name}>` }))
  return { sites: [site], nodes, parents: [opened], local: true }
}

/** Where the slash is that closes a tag; undefined where there is none, or where it belongs to a value. */
function closingSlash(document: TreeDocument, { attrs }: ElementNode, end: number): number | undefined {
  if (document.kind === 'html' && document.source.charAt(end - 2) !== '/') return undefined
  const isOfValue = /[^\t\n\f\r "']/.test(document.source.charAt(end - 3)) && attrs.at(-1)?.value.endsWith('/')
  if (document.asWritten && isOfValue) return undefined
  let slash = end - 1
  while (document.source.charAt(slash) !== '/') slash--
  return slash
}

function removal(document: TreeDocument, tail: Tail, target: ElementNode): Site {
  const parent = parentOf(target)
  const site = siteOf(target, parent, [], spanOf(tail, target))
  const owed = tagsOwed(document, parent, parent.childNodes[site.index - 1])
  const context = contextFor(parent)
  site.texts = textsWithout(document.kind, context, isFirst(context, site.span), owed)
  return site
}

function siteOf(target: ElementNode, parent: ParentNode, nodes: ChildNode[], span: Span | undefined): Site {
  return { host: hostOf(parent), parent, index: parent.childNodes.indexOf(target), gone: 1, nodes, span, texts: [] }
}

function hostOf(parent: ParentNode): ElementNode | undefined {
  return isElement(parent) ? parent : undefined
}

function parentOf(element: ElementNode, documentToo = false): ParentNode {
  const parent = element.parentNode
  if (!parent?.childNodes.includes(element)) throw new ChangedDocument()
  if (parent.nodeName === '#document' && !documentToo) {
    throw new EditError('parentless', 'Nothing can stand beside the root element.')
  }
  return parent
}

/** The element in which fragments for a parent are parsed. */
function contextFor(parent: ParentNode): ElementNode {
  return isElement(parent) ? parent : elementAlone('template')
}

function checkAnchor(document: TreeDocument, anchor: ElementNode, placement: Placement): void {
  if (placement === 'before' || placement === 'after') {
    parentOf(anchor)
  } else if (document.kind === 'html' && isVoid(anchor)) {
    throw new EditError('void-anchor', `Nothing can stand inside ${anchor.tagName}.`)
  }
}

/** The range of an element, without the end of the body that an open one may include. */
function spanOf(tail: Tail, element: ElementNode): Span | undefined {
  const place = element.sourceCodeLocation
  if (!place?.startTag) return undefined
  const { startOffset, endOffset } = place
  return { startOffset, endOffset: startOffset < tail.start ? Math.min(endOffset, tail.start) : endOffset }
}

function isFirst(context: ElementNode, span: Span | undefined): boolean {
  return span !== undefined && context.sourceCodeLocation?.startTag?.endOffset === span.startOffset
}

function startOfContent(document: TreeDocument, tail: Tail, anchor: ElementNode): number | undefined {
  const start = anchor.sourceCodeLocation?.startTag?.endOffset
  if (start === undefined) {
    const first = anchor.childNodes[0]?.sourceCodeLocation?.startOffset
    return first === undefined ? undefined : Math.min(first, tail.start)
  }
  if (document.kind === 'xml' || !dropsLineFeed(anchor)) return start
  const next = textOf(document).slice(start, start + 2)
  return start + (next === '\r\n' ? 2 : next.startsWith('\n') || next.startsWith('\r') ? 1 : 0)
}

function endOfContent(document: TreeDocument, tail: Tail, anchor: ElementNode): number | undefined {
  if (document.kind === 'html' && isHtmlElement(anchor, 'body')) return tail.start
  const place = anchor.sourceCodeLocation
  if (place?.endTag) return place.endTag.startOffset
  const end = place ? place.endOffset : anchor.childNodes.at(-1)?.sourceCodeLocation?.endOffset
  return end === undefined ? undefined : Math.min(end, tail.start)
}
