/**
 * Markup that browsers read otherwise than the parser, so that it may take in what follows the place that was written to, or
 * leave it. In `select` the parser passes over most tags, as the HTML standard said until 2025, and browsers of today make elements
 * of them; nor does a `textarea` or `keygen` close it there. Some close no `search` or `dialog` by the end tag of another element,
 * as the standard has it, and no `template` by that of a table, which the parser does; to some, a `b` with `is` is an element like
 * any other, which is not opened again. In a `template`, an end tag closes no form to some where a paragraph or the like is open in
 * it. In SVG and MathML they differ on what closes an element, but for its own end tag and that of one of its kind around it, and
 * some leave these at a `</p>` without start tag, also where they hold HTML.
 */

import { asciiLower } from '../ascii.ts'
import { testing } from '../long-text.ts'
import {
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { findingPrefixed, mayHavePrefixed } from '../prefixed-parser.ts'
import { parsingFragmentAlike } from '../readings.ts'
import { isVoid } from '../serialize-html.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { betweenTags } from './between.ts'
import { holding } from './holding.ts'
import { isHtmlElement } from './shape.ts'

/** What is read alike holds none of these, unless it comes into SVG, MathML or a `template`, and no attribute `is` of formatting. */
const DIFFERENT = /<(?:select|opt|r[bpt]|\/?t(?:body|head|foot)|search|dialog|template|svg|math)/i
const SELECT = /<select/i
const FORM_END = /<\/form/i
const IS = /[\t\n\f\r /"']is[\t\n\f\r =/>]/i
const TAG = /<[a-z/!?]/i
/** Other tags than those that every parser keeps there. */
const OTHER_TAG = /<(?!\/?(?:option|optgroup|hr)[\t\n\f\r />])[a-z/!?]/i
/** Names of start tags. */
const STARTS = /<([a-z][^\t\n\f\r />]*)/gi
/** Of these alone browsers make elements in a `select` that hold nothing of what follows it. */
const HARMLESS = new Set(['select', 'option', 'optgroup', 'hr'])
/** One of these in a `select` may close another one around that. */
const CLOSING = new Set(['a', 'form'])
/** Not every parser closes these with what stands around them. */
const HOLDING = new Set(['search', 'dialog', 'template', 'select'])
/** Where the end tag of one closes another in it, some parsers close what they stand in as well, but for a `select` or `ruby`. */
const IMPLIED = new Set(['option', 'optgroup', 'rb', 'rp', 'rt', 'rtc'])
const GROUPS = new Set(['tbody', 'thead', 'tfoot'])
/** What parsers open again, and some do not where it has `is`. */
const FORMATTING = new Set('a b big code em font i nobr s small strike strong tt u'.split(' '))
const FORMATTING_TAG = new RegExp(`<(?:${[...FORMATTING].join('|')})[\\t\\n\\f\\r /]`, 'i')
/** Tags that surely close themselves, in SVG and MathML: the slash of `<g fill=red/>` belongs to the value. */
const CLOSED =
  /^<[^\t\n\f\r ="'/>]+(?:[\t\n\f\r ]+[^\t\n\f\r ="'/>]+(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\t\n\f\r "'=<>`][^\t\n\f\r "'<>`]*(?=[\t\n\f\r ])))?)*[\t\n\f\r ]*\/>$/
/** End tags that stand for an element where none is open. */
const LEAVING = /<\/(?:p|br)[\t\n\f\r />]/i
/** In a group of rows, some close by these what stands around the table. */
const GROUP = /<\/t(?:body|head|foot)[\t\n\f\r />]/i
/** The same where nobody has written that group: it is a `tbody`. */
const OTHER_GROUP = /<\/t(?:head|foot)[\t\n\f\r />]/i
/** In a `template`, some close by those that the parser passes over what stands around it. */
const TABLE_TAG = /<\/?(?:t(?:able|body|head|foot|[rdh])|caption|col|colgroup)[\t\n\f\r />]/i
const BREAK = /<\/br[\t\n\f\r />]/i
/** Both, and sections in SVG and MathML in which no tag counts. */
const LEAVING_OR_CDATA = /<\/(?:p|br)[\t\n\f\r />]|<!\[CDATA\[.*?(?:\]\]>|$)/gis

/** HTML that every parser reads alike wherever it stands, if only its own end tag closes it. */
const ORDINARY = new Set(
  `a abbr address area article aside audio b bdi bdo big blockquote br button canvas center cite code data dd del details dfn
  div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img input ins kbd
  label legend li link main map mark meta meter nav ol output p picture pre progress q s samp script section small source span
  strike strong style sub summary sup textarea time track tt u ul var video wbr`.split(/[\n ]+/),
)

/** Whether all parsers read the element alike: those of text, forms without lists, and those that nobody knows. */
export function isOrdinaryName(tagName: string): boolean {
  return ORDINARY.has(tagName) || /[-:]/.test(tagName)
}

/** Whether it takes a look at the nodes of a text in a context to know that browsers read it alike, outside of SVG and MathML; in steps. */
export function* findingDifferent(text: string, context: ElementNode): Steps<boolean> {
  if (yield* testing(DIFFERENT, text)) return true
  if ((yield* testing(IS, text)) && (yield* testing(FORMATTING_TAG, text))) return true
  return standsInTemplate(context) && ((yield* findingFormEnd(text, context)) || (yield* testing(TABLE_TAG, text)))
}

/** Passed over behind a U+FFFD, which Chromium takes for no text there: it has it in place of the body, with what it holds. */
export const FRAMESET = /<frameset/i

/**
 * What an author wrote, in steps, or undefined where browsers may read it otherwise: then the nodes are written. Of what goes
 * into a `select` that is there already, any other tag than those of options counts: there, parsers of fragments and of documents
 * differ as well. Elements with prefixes are kept where composition shows them: who may write them is judged where they are
 * (COMP-147).
 *
 * @param context the parent of the nodes
 * @param nodes what the text was parsed to
 */
export function* keptText(
  kind: DocumentKind,
  context: ElementNode,
  nodes: readonly ChildNode[],
  text: string,
): Steps<string | undefined> {
  if (kind === 'xml') return text
  if (yield* testing(FRAMESET, text)) return undefined
  if (standsInSelect(context)) {
    if (!(yield* testing(OTHER_TAG, text))) return text
    return (yield* findingPrefixed(text)) && (yield* isJudged(text, context)) ? text : undefined
  }
  if (!isForeign(context) && !(yield* findingDifferent(text, context))) return text
  if (yield* holdingDifferent(nodes, text, context)) return undefined
  if (!(yield* testing(SELECT, text))) return text
  let passedOver = false
  let isShown = false
  yield* betweenTags(nodes, text, (piece, within) => {
    if (!TAG.test(piece) || !within.some(isSelect)) return
    passedOver = true
    isShown ||= mayHavePrefixed(piece)
  })
  if (!passedOver) return text
  return isShown && (yield* isJudged(text, context)) ? text : undefined
}

/**
 * Whether somebody judges the tags of a text that the parser passes over in a `select`, in steps: composition shows those with a
 * bound prefix, and `mayTakeIn` tells of those without. Of others with a prefix browsers make elements, and nobody else.
 */
function* isJudged(text: string, context: ElementNode): Steps<boolean> {
  const nodes = yield* parsingFragmentAlike({ kind: 'html', asWritten: true }, text, context)
  let isUnbound = false
  for (const piece of yield* piecesInSelect(nodes, text, standsInSelect(context))) {
    if (yield* findingTaking(piece)) return true
    isUnbound ||= yield* findingPrefixed(piece)
  }
  return !isUnbound
}

/**
 * The same for what is moved, which is kept unless it is open at its end: where its author wrote it, something else closed it.
 * Tags that the parser passes over in a `select` have been there before.
 *
 * @param from the parent that it had
 * @param to the parent that it gets
 * @throws TreeError for a limit
 */
export function* keptMove(
  document: TreeDocument,
  from: ElementNode,
  to: ElementNode,
  text: string,
): Steps<string | undefined> {
  if (!(yield* findingDifferent(text, to))) return text
  const nodes = yield* parsingFragmentAlike(document, text, from)
  return (yield* holdingDifferent(nodes, text, from, to)) ? undefined : text
}

/** @param to where the text comes, if that is not the context that it was read in */
function* holdingDifferent(
  nodes: readonly ChildNode[],
  text: string,
  context: ElementNode,
  to = context,
): Steps<boolean> {
  if (standsInTemplate(to) && (yield* findingFormEnd(text, to)))
    if (isOpenBefore(nodes.at(-1), text.length) || (yield* holdingForms(nodes))) return true
  return (yield* holdingOpen(nodes, text, context)) || (yield* holdingLeaving(nodes, text, context, to))
}

/** Whether another element in a form is open at its end tag, in steps. A `template` of the nodes closes what is in it. */
function holdingForms(nodes: readonly ChildNode[]): Steps<boolean> {
  const isHeld = (node: ChildNode) => {
    if (!isElement(node) || !isHtmlElement(node, 'form')) return false
    const end = node.sourceCodeLocation?.endTag
    return !end || isOpenBefore(node.childNodes.at(-1), end.startOffset)
  }
  return holding(nodes, isHeld, ({ content }) => !content)
}

/** @param last of its siblings @param end offset behind which no end tag of it counts */
function isOpenBefore(last: ChildNode | undefined, end: number): boolean {
  if (!last || !isElement(last) || isForeign(last) || isVoid(last)) return false
  const { endTag, endOffset = end } = last.sourceCodeLocation ?? {}
  return !endTag || endOffset > end
}

/** Whether a tag without element leaves SVG, MathML, a group of rows or a `template` that it stands in, to some, in steps. */
function* holdingLeaving(
  nodes: readonly ChildNode[],
  text: string,
  context: ElementNode,
  to: ElementNode,
): Steps<boolean> {
  const isInTemplate = standsInTemplate(to)
  let isLeft = false
  const leaving: string[] = []
  yield* betweenTags(nodes, text, (piece, within) => {
    // What stands before a row that nobody has written is not in it.
    const { tagName } = within.findLast(({ sourceCodeLocation }) => sourceCodeLocation) ?? context
    isLeft ||= GROUPS.has(tagName) ? GROUP.test(piece) : tagName === 'table' && OTHER_GROUP.test(piece)
    isLeft ||= TABLE_TAG.test(piece) && (isInTemplate || within.some(({ content }) => content !== undefined))
    // What is open again in SVG does not show where `</br>` stands.
    const leaves = isForeign(within.at(-1) ?? context) ? LEAVING : BREAK
    if (leaves.test(piece) && (isForeign(context) || within.some(isForeign))) leaving.push(piece)
  })
  for (const piece of leaving)
    isLeft ||= yield* findingMatch(piece, LEAVING_OR_CDATA, ([match]) => match.startsWith('</'))
  return isLeft
}

/**
 * Whether a text that `keptText` has kept for its elements with prefixes may hold what follows it, in browsers of today; in
 * steps. What stands in a `select` is not told from what follows it there.
 *
 * @param places whose children it changes
 * @param document that they are of
 * @throws TreeError for a limit
 */
export function* mayTakeIn(
  text: string,
  places: readonly ElementNode[],
  document: Pick<TreeDocument, 'kind' | 'asWritten'> = { kind: 'html' },
): Steps<boolean> {
  if (!(yield* findingPrefixed(text))) return false
  if (places.some(standsInSelect)) return yield* findingTaking(text)
  const at = text.search(SELECT)
  if (at === -1 || !(yield* findingTaking(text.slice(at)))) return false
  const [place] = places
  if (!place) return true
  for (const piece of yield* piecesInSelect(yield* parsingFragmentAlike(document, text, place), text))
    if (yield* findingTaking(piece)) return true
  return false
}

/** What stands between the tags of which elements came to be in a `select`, in steps. */
function* piecesInSelect(nodes: readonly ChildNode[], text: string, isWithin = false): Steps<string[]> {
  const pieces: string[] = []
  yield* betweenTags(nodes, text, (piece, within) => {
    if (isWithin || within.some(isSelect)) pieces.push(piece)
  })
  return pieces
}

/**
 * Whether all browsers read what XML is written as in HTML as the parser does, in steps: with all end tags, elements of text leave
 * what stands around a `select` as it is.
 *
 * @param nodes what the text was parsed to
 */
export function* isNestedAlike(context: ElementNode, nodes: readonly ChildNode[], text: string): Steps<boolean> {
  if (yield* holdingDifferent(nodes, text, context)) return false
  if (!(yield* testing(SELECT, text))) return true
  const isOther = (name: string) => !HARMLESS.has(name) && (CLOSING.has(name) || !isOrdinaryName(name))
  for (const piece of yield* piecesInSelect(nodes, text))
    if (yield* findingMatch(piece, STARTS, ([, name = '']) => isOther(asciiLower(name)))) return false
  return true
}

function findingTaking(text: string): Steps<boolean> {
  return findingMatch(text, STARTS, ([, name = '']) => !name.includes(':') && !HARMLESS.has(asciiLower(name)))
}

/** Whether one of the places where a pattern matches is of a kind, in steps. */
function* findingMatch(text: string, pattern: RegExp, isOne: (match: RegExpExecArray) => boolean): Steps<boolean> {
  let seen = 0
  for (const match of text.matchAll(pattern)) {
    if (isOne(match)) return true
    if (++seen % NODES_PER_STEP === 0) yield
  }
  return false
}

/**
 * Whether something else than its end tag closes one of those, or an element of SVG or MathML, but for the end tag of one of its
 * kind around it, or whether an end tag of SVG or MathML closes HTML in it, or that of formatting with `is` what it holds; in steps.
 */
function holdingOpen(nodes: readonly ChildNode[], text: string, context: ElementNode): Steps<boolean> {
  return holding(nodes, node => {
    if (!isElement(node)) return false
    const end = node.sourceCodeLocation?.endTag
    return end ? isCustomised(node) && closesOther(node, end.startOffset) : isHeldOpen(node, text, context)
  })
}

/** @param node has no end tag */
function isHeldOpen(node: ElementNode, text: string, context: ElementNode): boolean {
  const { namespaceURI, sourceCodeLocation: place } = node
  if (namespaceURI === HTML_NAMESPACE && (HOLDING.has(node.tagName) || isCustomised(node))) return true
  const parent = aroundOf(node, context)
  const around = parent === context ? undefined : parent.sourceCodeLocation
  const endsWithParent = place?.endOffset === (around?.endTag?.startOffset ?? around?.endOffset ?? text.length)
  if (isImplied(node) && isImplied(parent))
    return endsWithParent && !isHtmlElement(aroundOf(parent, context), 'ruby') && !standsInSelect(parent)
  // An end tag stands for such a paragraph, wherever it shows where something is open again.
  if (!place) return isForeign(parent)
  if (!(isForeign(node) || isForeign(parent)) || isVoid(node)) return false
  if (!isForeign(node)) return endsWithParent
  if (CLOSED.test(text.slice(place.startOffset, place.startTag?.endOffset))) return false
  return namespaceURI !== parent.namespaceURI || !endsWithParent
}

/** Whether the end tag of an element, where that begins, closes one in it as well: where it has `is`, some close one around it. */
function closesOther({ childNodes }: ElementNode, begin: number): boolean {
  const last = childNodes.at(-1)
  if (!last || !isElement(last) || isVoid(last)) return false
  const place = last.sourceCodeLocation
  return !place?.endTag && (place?.endOffset ?? begin) === begin
}

/** Nodes that were parsed alone do not know what they stand in. */
function aroundOf(element: ElementNode, context: ElementNode): ElementNode {
  const { parentNode } = element
  return parentNode && isElement(parentNode) ? parentNode : context
}

function isImplied({ namespaceURI, tagName }: ElementNode): boolean {
  return namespaceURI === HTML_NAMESPACE && IMPLIED.has(tagName)
}

/** Whether it is formatting with `is`, which is like any other element to some. */
export function isCustomised({ tagName, attrs }: ElementNode): boolean {
  return FORMATTING.has(tagName) && attrs.some(({ name }) => name === 'is')
}

/** Whether it is of SVG or MathML. */
export function isForeign({ namespaceURI }: ElementNode): boolean {
  return namespaceURI !== HTML_NAMESPACE
}

function isSelect(element: ElementNode): boolean {
  return isHtmlElement(element, 'select')
}

/** Whether the end tag of a form may come in a text, or behind it, in steps. */
function* findingFormEnd(text: string, context: ElementNode): Steps<boolean> {
  let isWithin = false
  for (let node: ParentNode | null = context; node && isElement(node); node = node.parentNode)
    isWithin ||= isHtmlElement(node, 'form')
  return isWithin || (yield* testing(FORM_END, text))
}

function standsInTemplate(element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node) && (isForeign(node) || node.tagName !== 'template')) node = node.parentNode
  // Contents do not know their template.
  return node !== null && node.nodeName !== '#document'
}

/** Whether tags are passed over there of which browsers make elements. */
export function standsInSelect(element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node) && !isSelect(node)) node = node.parentNode
  return node !== null && isElement(node)
}
