/**
 * Keeps a write inside the place it was granted for. Some markup has no meaning where it is put (a `div` inside a `p`, a
 * `plaintext` anywhere): the parsed text is then the document. Elements outside the place, or beside what is
 * written, may change with it, and the new ones may take in what stands around them, which the answer would show (HTTP-81).
 */

import { type Authority, mayPut } from '../authority.ts'
import { Fault } from '../fault.ts'
import { otherCharset } from '../http/media.ts'
import type { Resource } from '../store/resource.ts'
import { asciiLower } from '../tree/ascii.ts'
import type { PlannedSplice, ProposedEdit, View } from '../tree/edit/edit.ts'
import { holding } from '../tree/edit/holding.ts'
import { isForeign, isOrdinaryName, standsInSelect } from '../tree/edit/kept-text.ts'
import { takingInOthers } from '../tree/edit/outcome.ts'
import { isHtmlElement } from '../tree/edit/shape.ts'
import { findingForeignName, holdingForeignName, holdingOne, isBeyondAscii } from '../tree/foreign-names.ts'
import { testing } from '../tree/long-text.ts'
import {
  type AnyNode,
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  type FragmentNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  type ParentNode,
  parentElement,
} from '../tree/nodes.ts'
import { endOfScript } from '../tree/raw-text.ts'
import { outerMarkup, writingMarkup } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { findingUndecodable, otherEncoding, xmlDeclaration } from '../tree/xml-declaration.ts'
import {
  endingAlike,
  endingAsBegun,
  holdsMarkup,
  isNoscript,
  isReadAgain,
  isReadAlike,
  readingAround,
} from './noscript.ts'

/**
 * In steps.
 *
 * @param place element whose children the write is about; undefined stands for the document itself
 * @param resource the document
 * @param readsAll whether the requester may read all of it
 * @param before text of it as it was
 * @throws Fault 422 when the edit reaches beyond it and the requester may not write the whole document, and when its answer
 *   would hold what the requester may not read
 */
export function* checkingContainment(
  proposal: ProposedEdit,
  view: View,
  place: ElementNode | undefined,
  { path, type }: Pick<Resource, 'path' | 'type'>,
  authority: Authority,
  readsAll: boolean,
  before: string,
): Steps<void> {
  const { way, changes, keepsOthers } = proposal
  const mayWriteAll = () => mayPut(authority, path)
  // What is replaced stands nowhere in the tree as it would be, and the innermost element that changes may be one around.
  const places = [place, ...view.parents].filter(each => each !== undefined).filter(isElement)
  if ((yield* holdingEndless(proposal, view, places)) && !mayWriteAll())
    throw misplaced('nobody could write behind it any more, which needs the right to PUT the whole document')
  if ((yield* holdingPatches(changes, view)) && !mayWriteAll())
    throw misplaced('browsers would show it in place of others, which needs the right to PUT the whole document')
  if ((yield* holdingStrangers(changes, view)) && !mayWriteAll())
    throw misplaced(
      'SVG and MathML hold no other elements of HTML than those of text, where that is not written by who may PUT the whole document',
    )
  if (yield* holdingUnwritable(changes, view, mayWriteAll))
    throw misplaced(
      'HTML has no markup for it, so that more of pages that show it would change, which needs the right to PUT the whole document',
    )
  if (yield* holdingLeavers(proposal, view, places, readsAll, mayWriteAll))
    throw misplaced(
      'without scripts, or in another page, more would change, which needs the right to PUT the whole document',
    )
  if ((yield* holdingUnreadable(changes, view, type, readsAll, before)) && !mayWriteAll())
    throw misplaced(
      'some browsers would show nothing of the document any more, which needs the right to PUT the whole of it',
    )
  if (way !== 'reparsed') return
  const granted = depth(place)
  const isContained = keepsOthers && view.parents.every(parent => depth(parent) >= granted)
  if (!isContained && !mayWriteAll())
    throw misplaced('more of the page would change, which needs the right to PUT the whole document')
  if (!readsAll && (yield* takingInOthers(changes, view.nodes)))
    throw misplaced('it would take in what stands around it, which needs the right to read the whole document')
}

/** Whether the new nodes hold an element that no tag ends, in steps. The parser passes over some where browsers do not. */
function* holdingEndless(
  { way, changes }: ProposedEdit,
  { document, nodes }: View,
  places: readonly ElementNode[],
): Steps<boolean> {
  if (!(yield* matching(changes, /<(plaintext|script)/i))) return false
  if (document.kind === 'html' && places.some(standsInSelect) && (yield* matching(changes, /<plaintext/i))) return true
  // What a script has taken in may end the one that it holds, and not the script.
  const isReparsed = document.kind === 'html' && way === 'reparsed'
  const isOpen = (node: ElementNode) => isHtmlElement(node, 'script') && !node.sourceCodeLocation?.endTag
  const isOne = (node: ElementNode) => isEndless(node, document.kind) || (isReparsed && isOpen(node))
  return yield* holding(nodes, node => isElement(node) && isOne(node))
}

/** Whether what is written holds such a tag, in steps. */
function* matching(changes: readonly PlannedSplice[], tag: RegExp): Steps<boolean> {
  for (const { text } of changes) if (yield* testing(tag, text)) return true
  return false
}

/**
 * Whether browsers put something of the new nodes in the place of others, in steps: a template beside these may become the
 * shadow root of their parent, which shows nothing else then, or may be for what follows `<?start name="…">`, wherever that
 * stands in its parent.
 */
function* holdingPatches(changes: readonly PlannedSplice[], { document, nodes }: View): Steps<boolean> {
  if (!(yield* matching(changes, /<(template|\?)/i))) return false
  return nodes.some(node => isPatch(node, document.kind)) || (yield* holding(nodes, isMark))
}

/**
 * Whether the new nodes are, or hold, HTML in SVG or MathML that not all parsers are sure to read alike, in steps: Firefox forgets
 * a table around SVG where another one, or a `template`, ends in it. What else is read otherwise there was found one
 * by one, so that what is read alike is listed.
 */
function* holdingStrangers(changes: readonly PlannedSplice[], { document, nodes }: View): Steps<boolean> {
  if (document.kind === 'xml') return false
  const isWithin = [...new Set(nodes.map(({ parentNode }) => parentNode))].some(standsInForeign)
  if (!isWithin && !(yield* matching(changes, /<(?:svg|math)/i))) return false
  return yield* holdingOthers(nodes, isWithin)
}

/**
 * Whether the new nodes are, or hold, what is another tree when it is written and read again, as a table, the end of a form, or a
 * heading that formatting in another one has left comes to stand, or a table where there is no doctype; in steps.
 *
 * @param mayBe whether that is granted: then nothing is read for it
 */
function* holdingUnwritable(
  changes: readonly PlannedSplice[],
  { document, nodes }: View,
  mayBe: () => boolean,
): Steps<boolean> {
  if (document.kind === 'xml') return false
  if ((yield* matching(changes, /<h[1-6]/i)) && (yield* holding(nodes, standsInHeading)) && !mayBe()) return true
  if (document.root.mode === 'quirks' && (yield* holding(nodes, standsInParagraph)) && !mayBe()) return true
  if (!(yield* matching(changes, /<(?:table|form)/i)) || mayBe()) return false
  const places = new Map<ElementNode, ChildNode[]>()
  for (const node of nodes) {
    const place = parentElement(node)
    const beside = place && places.get(place)
    if (beside) beside.push(node)
    else if (place) places.set(place, [node])
  }
  for (const [place, list] of places) if (!(yield* isReadAgain(document, place, list))) return true
  return false
}

/**
 * Whether nodes hold other HTML in SVG or MathML than elements of text, in steps.
 *
 * @param isWithin whether they stand there themselves
 * @param from offset of what counts
 */
function* holdingOthers(nodes: readonly ChildNode[], isWithin: boolean, from = 0): Steps<boolean> {
  const within: ChildNode[] = isWithin ? [...nodes] : []
  const finding = (node: ChildNode) => {
    if (isElement(node) && isForeign(node)) within.push(node)
    return false
  }
  if (!isWithin) yield* holding(nodes, finding, element => !isForeign(element))
  return yield* holding(within, node => {
    if (!isElement(node) || isForeign(node) || isOrdinaryName(node.tagName)) return false
    return (node.sourceCodeLocation?.startOffset ?? from) >= from
  })
}

/** Whether it is a heading that ends the one around it where it is written. */
function standsInHeading(node: ChildNode): boolean {
  const parent = parentElement(node)
  return isHeading(node) && parent !== undefined && isHeading(parent)
}

/** In these, and in SVG and MathML, a table ends no `p` around them. */
const AROUND_TABLES = new Set(['td', 'th', 'caption', 'button', 'object', 'marquee', 'applet'])

/** Whether it is a table in a `p`, as documents without a doctype have it: in pages with one it ends the `p`. */
function standsInParagraph(node: ChildNode): boolean {
  if (!isElement(node) || !isHtmlElement(node, 'table')) return false
  for (let at = parentElement(node); at && !isForeign(at) && !AROUND_TABLES.has(at.tagName); at = parentElement(at))
    if (isHtmlElement(at, 'p')) return true
  return false
}

function isHeading(node: ChildNode): boolean {
  return isElement(node) && node.namespaceURI === HTML_NAMESPACE && /^h[1-6]$/.test(node.tagName)
}

function standsInForeign(node: ParentNode | null): boolean {
  let at = node
  while (at && isElement(at) && !isForeign(at)) at = at.parentNode
  return at !== null && isElement(at)
}

/** What XML holds may stand in HTML pages, where names are all that is left of it. */
function isPatch(node: ChildNode, kind: DocumentKind): boolean {
  if (!isElement(node) || asciiLower(node.tagName) !== 'template') return false
  if (kind === 'html' && node.namespaceURI !== HTML_NAMESPACE) return false
  return node.attrs.some(({ name }) => /^(?:shadowrootmode|for)$/i.test(name))
}

/**
 * Whether what stands around a `noscript` of the new nodes, or one that they come into, changes where scripts are off; in steps.
 * Of XML, whether more than the new nodes changes in HTML pages that show it.
 *
 * @param mayLeave whether that is granted: then nothing is read for it
 */
function* holdingLeavers(
  { way, changes }: ProposedEdit,
  { document, nodes, parents }: View,
  places: readonly ElementNode[],
  readsAll: boolean,
  mayLeave: () => boolean,
): Steps<boolean> {
  const isXml = document.kind === 'xml'
  // What others have written there is told to its readers alone (SEC-6).
  const left = parents.filter(isElement).filter(each => isNoscript(each) && (holdsMarkup(each) || !readsAll))
  const isNew = isXml ? nodes.length > 0 : yield* matching(changes, /<noscript/i)
  if ((!isNew && left.length === 0) || mayLeave()) return false
  const [place] = places
  const written = function* (): Steps<string> {
    let markup = ''
    for (const node of nodes) markup += yield* writingMarkup(node, 'html')
    return markup
  }
  if (isXml) {
    const markup = yield* written()
    if (!(yield* endingAsBegun(place, markup))) return true
    const read = yield* readingAround(place, markup)
    return !read.isAlike || (yield* holdingOthers(read.nodes, false, read.from))
  }
  if (left.length > 0 && !readsAll) return true
  for (const each of left) {
    if (!(yield* endingAlike(parentElement(each), outerMarkup(each, 'html')))) return true
    if (!(yield* isReadAlike(each))) return true
  }
  if (!isNew) return false
  if (places.some(standsInSelect)) return true
  const brought: ElementNode[] = []
  yield* holding(nodes, node => {
    if (isNoscript(node) && holdsMarkup(node)) brought.push(node)
    return false
  })
  if (brought.length === 0) return false
  for (const each of brought) if (!(yield* isReadAlike(each))) return true
  // Pages that are put together write it anew, and so may later edits: a `>` in its text is `&gt;` then.
  if (!(yield* endingAlike(place, yield* written()))) return true
  if (way === 'ancestor' || way === 'document') return false
  return !(yield* endingAlike(place, changes.map(({ text }) => text).join('')))
}

/** What is text in XML 1.0, and must be written as a reference where a document says that it is XML 1.1. */
const CONTROL = /[\u007f-\u0084\u0086-\u009f]/
const VERSION_1_0 = /[\t\n\r ]version[\t\n\r ]*=[\t\n\r ]*["']1\.0["']/

/**
 * Whether the new nodes hold what is well-formed XML, but not for all browsers, in steps: Firefox reads names of the fourth
 * edition only, Chromium no element with the prefix `xml`. Either shows an error in place of a whole document with one, and of
 * one in another encoding for what is no text in that, or no name.
 */
function* holdingUnreadable(
  changes: readonly PlannedSplice[],
  { document, nodes }: View,
  type: string,
  readsAll: boolean,
  before: string,
): Steps<boolean> {
  if (document.kind !== 'xml') return false
  const added = changes.map(({ text }) => text).join('')
  const declaration = xmlDeclaration(document.source)
  if (declaration !== '' && !VERSION_1_0.test(declaration) && (yield* holdingOne(added, CONTROL))) return true
  const encoding = otherCharset(type) ?? otherEncoding(document.source)
  if (encoding !== undefined)
    for (const { text } of changes) {
      if (yield* holdingForeignName(`>${text}`, isBeyondAscii)) return true
      if (yield* findingUndecodable(text, encoding)) return true
    }
  const holder: FragmentNode = { nodeName: '#document-fragment', childNodes: [...nodes] }
  if ((yield* findingForeignName(holder, added)) !== undefined) {
    // A document with others is read by programs; whether it has them is told to its readers alone (SEC-6).
    if (!readsAll) return true
    // What stands before the first tag of each is text.
    const replaced = changes.map(({ start, end }) => `>${before.slice(start, end)}`).join('')
    if (!(yield* holdingForeignName(replaced)))
      if ((yield* findingForeignName(document.root, document.source, new Set(nodes))) === undefined) return true
  }
  return added.includes('<xml:') && (yield* holding(nodes, node => isElement(node) && node.tagName.startsWith('xml:')))
}

function isMark(node: ChildNode): boolean {
  if (!('data' in node)) return false
  return /^\?(?:start|end|marker)(?![^\t\n\f\r ?])/i.test('target' in node ? `?${node.target}` : node.data)
}

function isEndless({ namespaceURI, tagName, childNodes }: ElementNode, kind: DocumentKind): boolean {
  if (kind === 'xml') return asciiLower(tagName) === 'plaintext'
  if (namespaceURI !== HTML_NAMESPACE) return false
  if (tagName === 'plaintext') return true
  return tagName === 'script' && childNodes.some(node => isText(node) && endOfScript(node.value) === 'none')
}

function misplaced(why: string): Fault {
  return new Fault(422, 'InvalidFragment', `This markup cannot stand in that place: ${why}.`)
}

function depth(node: AnyNode | undefined): number {
  let levels = 0
  for (let at = node; at && 'tagName' in at; at = parentElement(at)) levels++
  return levels
}
