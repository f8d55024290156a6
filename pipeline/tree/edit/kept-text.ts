/**
 * Markup that browsers read otherwise than the parser, so that it may take in what follows the place that was written to, or
 * leave it. In `select` the parser passes over most tags, as the HTML standard said until 2025, and browsers of today make elements
 * of them; nor does a `textarea` or `keygen` close it there. Some browsers leave SVG and MathML at a `</p>` without start tag, also
 * where these hold HTML, some close no `search` by the end tag of another element, as the standard has it, and some close nothing
 * in MathML by the `</foreignObject>` of the SVG around it, nor in SVG by that of HTML: they compare the names of end tags as what
 * is open innermost has them.
 */

import { foreignContent } from 'parse5'
import { parsingFragment } from '../fragment.ts'
import {
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { mayHavePrefixed } from '../prefixed-parser.ts'
import { parsingFragmentAlike } from '../readings.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { betweenTags } from './between.ts'
import { contentOf, isHtmlElement } from './shape.ts'

/** What is read alike holds none of these, unless it comes into SVG or MathML. */
export const MAY_DIFFER = /<(?:select|search|svg|math)/i
const TAG = /<[a-z/!?]/i
/** Other tags than those that every parser keeps there. */
const OTHER_TAG = /<(?!\/?(?:option|optgroup|hr)[\t\n\f\r />])[a-z/!?]/i
/** Names of start tags. */
const STARTS = /<([a-z][^\t\n\f\r />]*)/gi
/** Of these alone browsers make elements in a `select` that hold nothing of what follows it. */
const HARMLESS = new Set(['select', 'option', 'optgroup', 'hr'])
/** Tags that surely close themselves, in SVG and MathML: the slash of `<g fill=red/>` belongs to the value. */
const CLOSED = /^<[^\s="'/>]+(?:\s+[^\s="'/>]+(?:="[^"]*"|='[^']*')?)*\s*\/>$/
/** End tags that stand for an element where none is open. */
const LEAVING = /<\/(?:p|br)[\t\n\f\r />]/i
/** The same, and sections in SVG and MathML in which no tag counts. */
const LEAVING_OR_CDATA = /<\/(?:p|br)[\t\n\f\r />]|<!\[CDATA\[.*?(?:\]\]>|$)/gis

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
  if (standsInSelect(context)) return OTHER_TAG.test(text) && !mayHavePrefixed(text) ? undefined : text
  if (!MAY_DIFFER.test(text) && !(isForeign(context) && LEAVING.test(text))) return text
  let readOtherwise = yield* holdingOpen(nodes, text, context)
  let passedOver = false
  let isShown = false
  const leaving: string[] = []
  yield* betweenTags(nodes, text, (piece, within) => {
    if (isForeign(within.at(-1) ?? context) && LEAVING.test(piece)) leaving.push(piece)
    if (!within.some(isSelect)) return
    passedOver ||= TAG.test(piece)
    isShown ||= mayHavePrefixed(piece)
  })
  for (const piece of leaving)
    readOtherwise ||= yield* findingMatch(piece, LEAVING_OR_CDATA, ([match]) => match.startsWith('</'))
  return readOtherwise || (passedOver && !isShown) ? undefined : text
}

/**
 * The same for what is moved, which is kept unless it is open at its end: where its author wrote it, something else closed it.
 * Tags that the parser passes over have been there before.
 *
 * @param from the parent that it had
 * @throws TreeError for a limit
 */
export function* keptMove(document: TreeDocument, from: ElementNode, text: string): Steps<string | undefined> {
  if (!MAY_DIFFER.test(text)) return text
  const nodes = yield* parsingFragmentAlike(document, text, from)
  return (yield* holdingOpen(nodes, text, from)) ? undefined : text
}

/**
 * Whether a text that `keptText` has kept for its elements with prefixes may hold what follows it, in browsers of today; in
 * steps. What stands in a `select` is not told from what follows it there.
 *
 * @param places whose children it changes
 * @throws TreeError for a limit
 */
export function* mayTakeIn(text: string, places: readonly ElementNode[]): Steps<boolean> {
  if (!mayHavePrefixed(text)) return false
  if (places.some(standsInSelect)) return yield* findingTaking(text)
  const at = text.search(/<select/i)
  if (at === -1 || !(yield* findingTaking(text.slice(at)))) return false
  const [place] = places
  if (!place) return true
  const pieces: string[] = []
  yield* betweenTags(yield* parsingFragment('html', text, place), text, (piece, within) => {
    if (within.some(isSelect)) pieces.push(piece)
  })
  for (const piece of pieces) if (yield* findingTaking(piece)) return true
  return false
}

function findingTaking(text: string): Steps<boolean> {
  return findingMatch(text, STARTS, ([, name = '']) => !name.includes(':') && !HARMLESS.has(name.toLowerCase()))
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
 * Whether something else than its end tag closes a `search` or a `select`, or an element of SVG or MathML in one that has a name
 * of SVG; in steps.
 */
function* holdingOpen(nodes: readonly ChildNode[], text: string, context: ElementNode): Steps<boolean> {
  const open = [...nodes]
  for (let node = open.pop(), seen = 1; node; node = open.pop(), seen++) {
    if (seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) continue
    const place = node.sourceCodeLocation
    if (!place?.endTag) {
      if (isHtmlElement(node, 'search') || isSelect(node)) return true
      const tag = place?.startTag && text.slice(place.startTag.startOffset, place.startTag.endOffset)
      if (isForeign(node) && standsInOther(node, context) && !(tag && CLOSED.test(tag))) return true
    }
    for (const child of contentOf(node).childNodes) open.push(child)
  }
  return false
}

/** Whether an element of SVG or MathML stands in one of another kind that has a name which SVG writes with capital letters. */
function standsInOther({ namespaceURI, parentNode }: ElementNode, context: ElementNode): boolean {
  const isOther = (element: ElementNode) =>
    element.namespaceURI !== namespaceURI &&
    foreignContent.SVG_TAG_NAMES_ADJUSTMENT_MAP.has(element.tagName.toLowerCase())
  for (const around of [parentNode, context])
    for (let at: ParentNode | null = around; at && isElement(at); at = at.parentNode) if (isOther(at)) return true
  return false
}

function isForeign({ namespaceURI }: ElementNode): boolean {
  return namespaceURI !== HTML_NAMESPACE
}

function isSelect(element: ElementNode): boolean {
  return isHtmlElement(element, 'select')
}

/** Whether tags are passed over there of which browsers make elements. */
export function standsInSelect(element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node) && !isSelect(node)) node = node.parentNode
  return node !== null && isElement(node)
}
