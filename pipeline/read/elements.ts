/** Answers made from trees: one element, several elements, and the microdata of a page (HTTP-55, HTTP-65 to HTTP-72). */

import type { Answer } from '../answer.ts'
import { tooMuch } from '../compose/failure.ts'
import { Fault } from '../fault.ts'
import { cacheableOf, cacheControl, vary } from '../http/caching.ts'
import { evaluateRead, preconditionFailed, type Representation as Tagged } from '../http/conditions.ts'
import { digestingText } from '../http/digest.ts'
import { type Part, writingMultipart } from '../http/multipart.ts'
import { encodePath } from '../http/path.ts'
import { entriesContentRange, resolveEntries, type SelectorRange, selectorContentRange } from '../http/range.ts'
import { fragmentTag, taggingMatches, tellingFragment } from '../http/tags.ts'
import type { Registry } from '../model/registry.ts'
import { contentTag } from '../store/tags.ts'
import { indexingAddresses, uniqueSelector } from '../tree/address.ts'
import { encoding, PIECE, TreeError } from '../tree/document.ts'
import { writingJsonLd } from '../tree/json-ld.ts'
import { readingItemsWithin, readingTopLevelItems } from '../tree/microdata.ts'
import { jsonLdValue } from '../tree/microdata-value.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { writingDocumentAtMost, writingStretches, writingStretchesAtMost } from '../tree/serialize.ts'
import type { Stretches } from '../tree/source-text.ts'
import type { Steps } from '../tree/steps.ts'
import type { Reading } from './read.ts'
import { type Representation, typeOf } from './representation.ts'

/** One element: 206 with its outer markup; in steps, as all answers here. */
export function* fragmentAnswer(
  element: ElementNode,
  view: Representation,
  range: SelectorRange,
  reading: Reading,
): Steps<Answer> {
  const markup = yield* writingView(view, element)
  const part = yield* tellingFragment(markup)
  const tag = fragmentTag(part, view.documentPart())
  const headers = commonHeaders(view, reading, tag)
  const unchanged = conditional(reading, headers, { tag, fragmentParts: [part] })
  if (unchanged) return unchanged
  headers['Content-Type'] = typeOf(view)
  headers['Content-Range'] = selectorContentRange(range.wire)
  return { status: 206, headers, body: yield* bytesOf(markup), ...(reading.reuse && { reuse: reading.reuse }) }
}

/**
 * UTF-16 code units that a page, or an element, is written in at most: what it is made of was counted by its characters, of
 * which escapes write up to six for one. It may have twice what it is stored with in any case.
 */
const LARGEST_MARKUP = 128 * 1024 * 1024

/**
 * The markup of a page that was put together, or of one of its elements, in steps.
 *
 * @param element the whole page when missing
 * @throws Fault 503 for more than `most` UTF-16 code units
 */
export function* writingView(
  { tree }: Pick<Representation, 'tree'>,
  element?: ElementNode,
  most = LARGEST_MARKUP,
): Steps<Stretches> {
  const room = Math.max(most, 2 * tree.source.length)
  const text = yield* element ? writingStretchesAtMost(element, tree.kind, room) : writingDocumentAtMost(tree, room)
  if (!text) throw tooMuch('What is asked for is longer than an answer may be.')
  return text
}

/** A body, in steps where it is long. */
export function* bytesOf(text: Stretches): Steps<Uint8Array> {
  return text.length <= PIECE ? Buffer.from(text.slice(0)) : yield* encoding(text, false)
}

/** What the selectors of a requester are matched against, where it is not the whole document (SEC-6). */
export interface Addressed {
  document: TreeDocument
  /** What stands there for an element of the whole document. */
  copyOf(element: ElementNode): ElementNode
}

/** Every match, as `multipart/mixed` (HTTP-65 to HTTP-68). */
export function* matchesAnswer(
  view: Representation,
  elements: ElementNode[],
  range: SelectorRange,
  reading: Reading,
  addressed: Addressed,
): Steps<Answer> {
  const { shown, slice, contentRange } = sliceOf(elements, range)
  const { parts, places } = yield* elementParts(view, shown, { addressed })
  const selection = slice ? `${range.selector}\n${slice.first}-${slice.last}` : range.selector
  const tag = yield* taggingMatches(selection, places)
  const headers = commonHeaders(view, reading, tag)
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return unchanged
  const { contentType, body } = yield* writingMultipart(parts)
  headers['Content-Type'] = contentType
  headers['Content-Range'] = contentRange
  return { status: 206, headers, body, ...(reading.reuse && { reuse: reading.reuse }) }
}

/**
 * The matches that are asked for (HTTP-68).
 *
 * @throws Fault 416 where the slice begins behind the last match
 */
function sliceOf(elements: ElementNode[], { entries, wire }: SelectorRange) {
  if (!entries) return { shown: elements, contentRange: selectorContentRange(wire) }
  const total = elements.length
  const slice = resolveEntries(entries, total)
  if (!slice)
    throw new Fault(416, 'InvalidRange', `There are only ${total} matches.`, {
      headers: { 'Content-Range': entriesContentRange(undefined, total) },
    })
  const shown = elements.slice(slice.first, slice.last + 1)
  return { shown, slice, contentRange: entriesContentRange(slice, total) }
}

/**
 * What the parts of one document and their addresses may hold together, in UTF-16 code units: elements inside each other
 * repeat each other.
 */
const LARGEST_PARTS = { least: 16 * 1024 * 1024, perUnit: 8 }

/**
 * What the heads of all parts of an answer may hold, in UTF-16 code units: each names its document, so that a selector that
 * finds 100,000 short elements would have the path told as often.
 */
const MOST_HEADS = 64 * 1024 * 1024

/** Code units of a head beside path and address, and what a part takes in memory beside its texts. */
const HEAD = 320

/** What all parts of one answer may hold together, be they of one document or of several. */
export class PartsRoom {
  #heads = MOST_HEADS
  #markup: number

  /** @param markup code units of the elements; those of one document are bounded by its length */
  constructor(markup = Number.POSITIVE_INFINITY) {
    this.#markup = markup
  }

  /**
   * Counts a part before it is made.
   *
   * @param names length of its path and its address
   * @throws Fault 422
   */
  take(names: number, markup: number): void {
    this.#heads -= HEAD + names
    this.#markup -= markup
    if (this.#heads < 0 || this.#markup < 0)
      throw new Fault(422, 'InvalidSelector', 'The selector matches too many elements for one answer. Ask for fewer.')
  }
}

/** Short ones; long ones take steps of their own. */
const PARTS_PER_STEP = 20

/**
 * Parts of a multi-match answer, each addressed so that a write can follow (HTTP-67).
 *
 * @throws Fault 422 when elements inside each other repeat the document beyond all proportion, or there are too many parts
 */
export function* elementParts(
  view: Representation,
  elements: ElementNode[],
  options: { lastModified?: string; addressed?: Addressed; room?: PartsRoom } = {},
): Steps<{ parts: Part[]; places: { place: string; part: string }[] }> {
  const { tree, file, documentPart } = view
  // Addresses tell nothing of what their reader may not see, such as another element with the same id.
  const { document, copyOf } = options.addressed ?? { document: tree, copyOf: (element: ElementNode) => element }
  const index = yield* indexingAddresses(document)
  const location = encodePath(file.resource.path)
  const type = typeOf(view)
  const parts: Part[] = []
  const places: { place: string; part: string }[] = []
  const room = options.room ?? new PartsRoom()
  let left = Math.max(LARGEST_PARTS.least, document.source.length * LARGEST_PARTS.perUnit)
  for (const element of elements) {
    if (parts.length % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
    const markup = yield* writingStretches(element, tree.kind)
    const place = uniqueSelector(copyOf(element), document, index)
    left -= markup.length + place.length
    if (left < 0)
      throw new Fault(
        422,
        'InvalidSelector',
        'The selector matches too many elements inside each other. Ask for fewer.',
      )
    room.take(location.length + place.length, markup.length)
    const part = yield* tellingFragment(markup)
    places.push({ place: `${file.resource.path} ${place}`, part })
    parts.push({
      headers: {
        'Content-Type': type,
        'Content-Location': location,
        'Content-Range': selectorContentRange(place),
        ETag: fragmentTag(part, documentPart()),
        ...(options.lastModified !== undefined && { 'Last-Modified': options.lastModified }),
      },
      content: markup,
    })
  }
  return { parts, places }
}

/** Elements whose microdata is asked for. */
export interface SelectedItems {
  range: SelectorRange
  elements: ElementNode[]
  /** Where `itemref` may lead: to what the requester may read (SEC-7). */
  mayRefer: (element: ElementNode) => boolean
}

/** The microdata of a page, or of the elements that match (HTTP-70). */
export function* jsonLdAnswer(
  view: Representation,
  selected: SelectedItems | undefined,
  reading: Reading,
  model: Registry,
): Steps<Answer> {
  const part = selected && sliceOf(selected.elements, selected.range)
  const text = yield* microdataText(view, part?.shown, model, selected?.mayRefer)
  const tag = contentTag(yield* digestingText(text))
  const headers = commonHeaders(view, reading, tag)
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return unchanged
  headers['Content-Type'] = 'application/ld+json; charset=utf-8'
  if (part) headers['Content-Range'] = part.contentRange
  const status = part ? 206 : 200
  return { status, headers, body: yield* bytesOf(text), ...(reading.reuse && { reuse: reading.reuse }) }
}

/**
 * What the items of these elements take properties from beside them: JSON-LD is about that as well (HTTP-70, REA-23).
 *
 * @throws Fault 422 as the answer would be
 */
export function* referredBy(
  elements: ElementNode[],
  mayRefer: (element: ElementNode) => boolean,
): Steps<ReadonlySet<ElementNode>> {
  const referred = new Set<ElementNode>()
  yield* withinLimits(readingItemsWithin(elements, () => '', mayRefer, { leads: element => referred.add(element) }))
  return referred
}

function* withinLimits<T>(reading: Steps<T>): Steps<T> {
  try {
    return yield* reading
  } catch (error) {
    if (error instanceof TreeError) throw new Fault(422, 'InvalidFragment', error.message)
    throw error
  }
}

/**
 * @throws Fault 422 when references between items multiply beyond all proportion to the page
 */
function* microdataText(
  { tree }: Representation,
  elements: ElementNode[] | undefined,
  schemas: Registry,
  mayRefer?: (element: ElementNode) => boolean,
): Steps<Stretches> {
  const read = jsonLdValue(schemas.vocabulary.ns)
  const reading = elements
    ? readingItemsWithin(elements, read, mayRefer, { schemas })
    : readingTopLevelItems(tree.root, read, schemas)
  return yield* withinLimits(writingJsonLd(yield* withinLimits(reading)))
}

export function commonHeaders(view: Representation, reading: Reading, tag: string): Record<string, string> {
  const { file, composed } = view
  const { read, shared } = reading
  const personal = !shared || read.setsCookie
  const headers: Record<string, string> = {
    ETag: tag,
    'Cache-Control': cacheControl(cacheableOf(file.kind, file.resource.type, composed), personal),
    'Accept-Ranges': 'selector, bytes',
    ...view.headers,
  }
  const varies = vary({ kind: file.kind, personal, coded: false, cors: read.cors })
  if (varies) headers.Vary = varies
  return headers
}

/** 304 when the client has it already (HTTP-40); such answers have no date to compare (HTTP-30). */
export function conditional(reading: Reading, headers: Record<string, string>, current: Tagged): Answer | undefined {
  const { conditions } = reading.read
  if (!conditions) return undefined
  const verdict = evaluateRead(conditions, current)
  if (verdict === 412) throw preconditionFailed(current.tag)
  return verdict === 'proceed' ? undefined : { status: 304, headers: { ...headers, ETag: verdict.tag } }
}
