/**
 * Changes that the server makes in an author's document beyond what a request asked for: elements added to items, value
 * elements replaced or taken away. All of them are made at once and proved by one reading of the result; only what they
 * touch is written anew (MOD-30, MOD-31, MOD-70).
 */

import { findingCounterparts } from '../tree/edit/counterpart.ts'
import { markupIn, tagsOwed } from '../tree/edit/markup.ts'
import { changedSource, type PlannedSplice } from '../tree/edit/plan.ts'
import { isHtmlElement, isSelfClosed } from '../tree/edit/shape.ts'
import { bodyOf, findingTail, type Tail, workingWithoutTail } from '../tree/edit/tail.ts'
import { attemptsFor, parsingExpected } from '../tree/edit/whole.ts'
import { parsingFragment } from '../tree/fragment.ts'
import { TreeError } from '../tree/limits.ts'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  isElement,
  type ParentNode,
  parentElement,
  type TreeDocument,
} from '../tree/nodes.ts'
import { writingMarkup, writingWholeDocument } from '../tree/serialize.ts'
import { isVoid } from '../tree/serialize-html.ts'
import type { Steps } from '../tree/steps.ts'
import { addingInPlace } from './revise-in-place.ts'

export type Revision =
  /** Becomes the last child. */
  | { op: 'append'; to: ElementNode; node: ElementNode }
  /** Takes the place of an element; nothing takes it away. An element that has a place in the source keeps its text. */
  | { op: 'replace'; element: ElementNode; by: readonly ElementNode[] }

export interface Revised {
  /** Another document; the one that was given must not be used any more. */
  document: TreeDocument
  /** A node of the given document, or one that a revision brought, as it stands in the new one. */
  find(node: AnyNode): AnyNode | undefined
}

/**
 * @param document belongs to the caller alone; its tree is changed
 * @param tracked nodes that will be looked for afterwards
 * @returns undefined when no text parses to the revised tree
 */
export function* revising(
  document: TreeDocument,
  revisions: readonly Revision[],
  tracked: readonly AnyNode[],
): Steps<Revised | undefined> {
  const placed = document.kind === 'xml' ? yield* readingInPlace(revisions) : undefined
  if (!placed) return yield* revisingTree(document, revisions, tracked)
  const nowOf = (node: AnyNode) => placed.read.get(node) ?? node
  const revised = yield* revisingTree(document, placed.revisions, tracked.map(nowOf))
  return revised && { ...revised, find: node => revised.find(nowOf(node)) }
}

/** Revisions of an XML document with new elements as they are read at their places: code may have built them as HTML. */
function* readingInPlace(revisions: readonly Revision[]): Steps<{
  revisions: Revision[]
  /** By element that a revision has brought. */
  read: ReadonlyMap<AnyNode, AnyNode>
}> {
  const read = new Map<AnyNode, AnyNode>()
  const placed: Revision[] = []
  for (const revision of revisions) {
    const parent = revision.op === 'append' ? revision.to : parentElement(revision.element)
    const brought = revision.op === 'append' ? [revision.node] : revision.by
    const by: ElementNode[] = []
    for (const node of brought) {
      const now = (parent && !node.sourceCodeLocation?.startTag && (yield* readIn(parent, node))) || node
      if (now !== node) read.set(node, now)
      by.push(now)
    }
    placed.push(revision.op === 'append' ? { ...revision, node: by[0] ?? revision.node } : { ...revision, by })
  }
  return { revisions: placed, read }
}

/** @returns undefined when it cannot be written there as XML */
function* readIn(parent: ElementNode, node: ElementNode): Steps<ElementNode | undefined> {
  try {
    const [read] = yield* parsingFragment('xml', markupIn('xml', parent, [node]), parent)
    if (!read || !isElement(read)) return undefined
    read.sourceCodeLocation = null
    return read
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}

function* revisingTree(
  document: TreeDocument,
  revisions: readonly Revision[],
  tracked: readonly AnyNode[],
): Steps<Revised | undefined> {
  const added = yield* addingInPlace(document, revisions, tracked)
  if (added) return added
  const tail = yield* findingTail(document)
  const ending = bodyOf(document)?.childNodes ?? []
  return yield* workingWithoutTail(ending, tail, revisingAtOnce(document, tail, revisions, tracked))
}

/** All revisions together, proved by one reading of the result. */
function* revisingAtOnce(
  document: TreeDocument,
  tail: Tail,
  revisions: readonly Revision[],
  tracked: readonly AnyNode[],
): Steps<Revised | undefined> {
  const changes = yield* splicing(document, tail, revisions)
  yield
  apply(revisions)
  const attempts = attemptsFor(document, tail)
  // None begins before those ahead of it were read.
  const sources = [changing(document, changes), widening(document, revisions), writingWholeDocument(document)]
  for (const source of sources) {
    const text = yield* source
    const parsed = text === undefined ? undefined : yield* parsingExpected(attempts, text)
    if (!parsed) continue
    const wanted = [document.root, ...tracked]
    const found = yield* findingCounterparts(document.root.childNodes, parsed.root.childNodes, wanted)
    return { document: parsed, find: node => (node === document.root ? parsed.root : found.get(node)) }
  }
  return undefined
}

function apply(revisions: readonly Revision[]): void {
  const replaced = new Map<ParentNode, Map<ChildNode, readonly ElementNode[]>>()
  for (const revision of revisions) {
    if (revision.op === 'append') {
      revision.node.parentNode = revision.to
      revision.to.childNodes.push(revision.node)
      continue
    }
    const { element, by } = revision
    const parent = element.parentNode
    if (!parent) continue
    for (const node of by) node.parentNode = parent
    replaced.set(parent, (replaced.get(parent) ?? new Map()).set(element, by))
  }
  for (const [parent, others] of replaced)
    parent.childNodes = parent.childNodes.flatMap(node => others.get(node) ?? node)
}

/** A change of the source text, and tags that the author left out and that have to stand before it. */
interface Splice extends PlannedSplice {
  owed: string
}

/** Revisions that are written as changes of the source text in one step. */
const REVISIONS_PER_STEP = 200

/** Changes of the source text; undefined when an element has no place of its own there. */
function* splicing(
  document: TreeDocument,
  tail: Tail,
  revisions: readonly Revision[],
): Steps<PlannedSplice[] | undefined> {
  const splices: Splice[] = []
  for (const revision of revisions) {
    if (splices.length % REVISIONS_PER_STEP === REVISIONS_PER_STEP - 1) yield
    const splice = spliceOf(document, tail, revision)
    if (!splice) return undefined
    splices.push(splice)
  }
  // Sorting keeps the order of texts that are added at one place.
  splices.sort((a, b) => a.start - b.start || b.end - a.end)
  const kept: Splice[] = []
  for (const splice of splices) {
    const last = kept.at(-1)
    // Of what lies inside a replaced element nothing remains.
    if (last && splice.start < last.end) continue
    if (last && splice.start === last.start && splice.end === last.end) last.text += splice.text
    else kept.push({ ...splice })
  }
  return kept.map(({ start, end, owed, text }) => ({ start, end, text: owed + text }))
}

function spliceOf(document: TreeDocument, tail: Tail, revision: Revision): Splice | undefined {
  if (revision.op === 'append') {
    const { to, node } = revision
    const at = endOfContent(document, tail, to)
    if (at === undefined) return undefined
    // What was left open would take the new element in.
    const owed = tagsOwed(document, to, to.childNodes.at(-1))
    return { start: at, end: at, owed, text: textIn(document, node, to) }
  }
  const { element, by } = revision
  const place = element.sourceCodeLocation
  const parent = parentElement(element)
  if (!place?.startTag || !parent) return undefined
  const text = by.map(node => textIn(document, node, parent)).join('')
  return { start: place.startOffset, end: Math.min(place.endOffset, tail.start), owed: '', text }
}

/** Markup of a node that will stand in an element; one that has a place in the source is taken over as it is. */
function textIn(document: TreeDocument, node: ElementNode, parent: ElementNode): string {
  const place = node.sourceCodeLocation
  if (place?.startTag) return document.source.slice(place.startOffset, place.endOffset)
  return markupIn(document.kind, parent, [node])
}

function endOfContent(document: TreeDocument, tail: Tail, element: ElementNode): number | undefined {
  if (document.kind === 'html' && (isVoid(element) || isHtmlElement(element, 'html'))) return undefined
  if (document.kind === 'html' && isHtmlElement(element, 'body')) return tail.start
  if (isSelfClosed(document, element)) return undefined
  const place = element.sourceCodeLocation
  if (place?.endTag) return place.endTag.startOffset
  const end = place?.endOffset ?? element.childNodes.at(-1)?.sourceCodeLocation?.endOffset
  return end === undefined ? undefined : Math.min(end, tail.start)
}

/** The source with its changes; undefined where it has none. */
function* changing({ source }: TreeDocument, changes: PlannedSplice[] | undefined): Steps<string | undefined> {
  yield
  return changes && changedSource(source, changes)
}

/** The source with the elements around all revisions written anew; undefined when they have no place of their own. */
function* widening(document: TreeDocument, revisions: readonly Revision[]): Steps<string | undefined> {
  const elements = new Set<ElementNode>()
  for (const revision of revisions) {
    const around = revision.op === 'append' ? revision.to : parentElement(revision.by[0] ?? revision.element)
    if (!around) return undefined
    elements.add(around)
  }
  const places: { start: number; end: number; element: ElementNode }[] = []
  for (const element of elements) {
    const place = element.sourceCodeLocation
    if (!place?.startTag || isHtmlElement(element, 'body') || isHtmlElement(element, 'html')) return undefined
    places.push({ start: place.startOffset, end: place.endOffset, element })
  }
  places.sort((a, b) => a.start - b.start || b.end - a.end)
  const changes: PlannedSplice[] = []
  for (const { start, end, element } of places) {
    // It is written with the one around it: of elements in each other, each would be written with all that is in it.
    if (start < (changes.at(-1)?.end ?? 0)) continue
    changes.push({ start, end, text: yield* writingMarkup(element, document.kind) })
  }
  return changedSource(document.source, changes)
}

/** Nodes as they stand in a revised document; what is gone is left out. */
export function findAll<Node extends AnyNode>({ find }: Revised, nodes: readonly Node[]): Node[] {
  return nodes.flatMap(node => (find(node) as Node | undefined) ?? [])
}

/** Followed items of a place as they stand in a revised document (`WrittenPlace.followed`). */
export function followedIn(
  { find }: Revised,
  followed: readonly (ElementNode | undefined)[] | undefined,
): { followed?: (ElementNode | undefined)[] } {
  return followed ? { followed: followed.map(element => element && (find(element) as ElementNode | undefined)) } : {}
}
