/**
 * Edits of pages that composition reads otherwise than the standard does: made in the tree in which prefixed elements stand
 * where they are written (COMP-6), so that one without end tag takes in nothing of what follows it. What is stored is the
 * standard's tree of the text that comes of it.
 */

import { parsingDocument } from '../document.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { findingPrefixed } from '../prefixed-parser.ts'
import { noteReading, parsingAsWritten, readingAsWritten } from '../readings.ts'
import { findingSame, sameElement } from '../same-nodes.ts'
import { textOf } from '../source-text.ts'
import type { Steps } from '../steps.ts'
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
  return (yield* findingPrefixed(textComing(document, wanted))) ? yield* parsingAsWritten(document) : undefined
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
