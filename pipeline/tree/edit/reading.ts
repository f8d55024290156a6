/**
 * Edits of pages that composition reads otherwise than the standard does: made in the tree in which prefixed elements stand
 * where they are written (COMP-6), so that one without end tag takes in nothing of what follows it. What is stored is the
 * standard's tree of the text that comes of it.
 */

import { parsingDocument } from '../document.ts'
import { type ElementNode, HTML_NAMESPACE, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { findingPrefixed } from '../prefixed-parser.ts'
import { noteReading, parsingAsWritten, readingAsWritten } from '../readings.ts'
import { findingSame, sameElement } from '../same-nodes.ts'
import { textOf } from '../source-text.ts'
import type { Steps } from '../steps.ts'
import { isBalanced } from './balanced.ts'
import { refusing } from './error.ts'
import { findingChanged, withNew } from './outcome.ts'
import { type ProposedEdit, replaced } from './proposal.ts'
import { type Edit, namedElements, redirected } from './resolve.ts'
import { contentOf } from './shape.ts'

/**
 * The document as it has to be read for an edit, in steps. It is for looking at alone.
 *
 * @param document as the standard reads it
 * @returns undefined where the edit is the same in both readings
 */
export function* readingFor(document: TreeDocument, wanted: Edit): Steps<TreeDocument | undefined> {
  if (document.kind === 'xml') return undefined
  const read = yield* readingAsWritten(document)
  if (read !== document) return read
  const text = textComing(document, wanted)
  if (!(yield* findingPrefixed(text)) && !(yield* movingEnds(document, wanted, text))) return undefined
  return yield* parsingAsWritten(document)
}

/** Whether both readings are one tree, and stay one whatever an edit that is proved in both does. */
export function* isOneReading(document: TreeDocument, wanted: Edit): Steps<boolean> {
  return (yield* readingAsWritten(document)) === document && !(yield* findingPrefixed(textComing(document, wanted)))
}

/** Where prefixed elements end is told by tags alone: what comes into a page that has some may be read otherwise by that. */
function* movingEnds(document: TreeDocument, wanted: Edit, text: string): Steps<boolean> {
  if (!text.includes('<') || !(yield* findingPrefixed(document.source))) return false
  return namedElements(wanted).some(standsElsewhere) || !(yield* isBalanced(text))
}

/** Whether tags are read in another way there. */
function standsElsewhere(element: ElementNode): boolean {
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode)
    if (node.namespaceURI !== HTML_NAMESPACE || node.tagName === 'select') return true
  return false
}

/** What the place of an edit gets, as it is written. */
function textComing(document: TreeDocument, wanted: Edit): string {
  if ('text' in wanted) return wanted.text
  const place = wanted.op === 'move' ? wanted.source.sourceCodeLocation : undefined
  return place ? textOf(document).slice(place.startOffset, place.endOffset) : ''
}

/** The same edit of another reading. @returns undefined where an element is not there */
export function editOf(document: TreeDocument, wanted: Edit, read: TreeDocument): Edit | undefined {
  const found = new Map<ElementNode, ElementNode>()
  for (const element of namedElements(wanted)) {
    const same = sameElement(document, element, read)
    if (!same) return undefined
    found.set(element, same)
  }
  return redirected(wanted, element => found.get(element) ?? element)
}

/**
 * What an edit that was made in another reading makes of the document, in steps.
 *
 * @param made has read the whole text anew
 * @param inPlace the same as the standard reads it, where that was proved
 * @throws EditError when the result breaks a limit
 */
export function* proposingRead(
  document: TreeDocument,
  wanted: Edit,
  made: ProposedEdit,
  inPlace: ProposedEdit | undefined,
): Steps<ProposedEdit> {
  const shown = made.propose(view => view)
  const proposed = inPlace ?? (yield* proposingAnew(document, wanted, made))
  const { inserted } = made
  const accepting = function* () {
    const accepted = yield* proposed.accepting()
    noteReading(accepted, shown.document)
    return accepted
  }
  return { ...proposed, inserted, shown, accepting }
}

function* proposingAnew(document: TreeDocument, wanted: Edit, made: ProposedEdit): Steps<ProposedEdit> {
  const { source, changes, way, keepsOthers, inserted } = made
  const { document: read, nodes: shown } = made.propose(view => view)
  const parsed = yield* refusing(parsingDocument('html', source))
  const nodes = yield* findingSame(read, shown, parsed)
  const hosts = hostsOf(wanted)
  const { before, parent, reread } = yield* findingChanged(document, parsed, hosts)
  const known = new Set(nodes)
  const isAsAsked =
    way !== 'reparsed' && hosts.every(host => before === placeIn(host)) && reread.every(node => known.has(node))
  const parts = { changes, way, keepsOthers, inserted, nodes, parents: [parent] }
  return replaced(document, parsed, isAsAsked ? parts : { ...parts, reread: withNew(reread, nodes) })
}

function placeIn(host: ElementNode | undefined): ParentNode | undefined {
  return host && contentOf(host)
}

/** Whose children an edit changes; undefined for the document itself. */
function hostsOf(wanted: Edit): (ElementNode | undefined)[] {
  const around = ({ parentNode }: ElementNode) => (parentNode && isElement(parentNode) ? parentNode : undefined)
  if (wanted.op === 'replace' || wanted.op === 'remove') return [around(wanted.target)]
  const { anchor, placement } = wanted
  const host = placement === 'append' || placement === 'prepend' ? anchor : around(anchor)
  return wanted.op === 'move' ? [around(wanted.source), host] : [host]
}
