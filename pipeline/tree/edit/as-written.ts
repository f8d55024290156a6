/**
 * Edits that bring, take away or move prefixed elements. The parser of the standard moves these out of tables, but pages
 * are put together with each where it is written (COMP-6): an element that is removed, replaced or moved takes with it
 * those that are written in it (COMP-86), and new markup keeps its own.
 */

import { comparing } from '../compare.ts'
import { parsingDocument } from '../document.ts'
import { parsingHtml } from '../html.ts'
import { TreeError } from '../limits.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { boundIn, findingPrefixed, parsingPrefixed, parsingPrefixedFragment } from '../prefixed-parser.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { writingMarkupIn } from './markup.ts'
import { writtenRanges } from './outcome.ts'
import { candidates, changedSource, changesOf, type Plan, type PlannedSplice, type Site } from './plan.ts'
import { type ProposedEdit, replaced } from './proposal.ts'

/**
 * Splices what was sent or stands in the source, in steps.
 *
 * @returns undefined where no prefixed element is concerned, and where the new text, read with prefixed elements in place,
 *   is not what was asked for
 */
export function* writingAsWritten(document: TreeDocument, plan: Plan): Steps<ProposedEdit | undefined> {
  const [candidate] = candidates(plan)
  if (document.asWritten || candidate?.way !== 'splice' || !(yield* concerningPrefixed(document, plan)))
    return undefined
  const changes = changesOf(plan, candidate)
  try {
    return yield* splicing(document, plan, changes)
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}

/** Whether prefixed elements may come, go or move, in steps. */
export function* concerningPrefixed({ kind, source }: TreeDocument, plan: Plan): Steps<boolean> {
  const [candidate] = candidates(plan)
  if (kind !== 'html' || plan.isStandard || !candidate) return false
  for (const { start, end, text } of changesOf(plan, candidate))
    if (yield* findingPrefixed(source.slice(start, end) + text)) return true
  return false
}

/**
 * Whether a text that was written anew still says what was asked for when it is read with prefixed elements in place, in
 * steps. Written by the standard's tree, one that closes itself would take in all that follows it.
 *
 * @param source the new text
 */
export function* keepsWritten(document: TreeDocument, plan: Plan, source: string): Steps<boolean> {
  if (document.kind !== 'html' || document.asWritten || plan.isStandard) return true
  if (!(yield* findingPrefixed(source))) return true
  try {
    const read = yield* parsingPrefixed(document.source)
    const plain = yield* parsingHtml(document.source)
    // Where both readings are one, so are those of what the tree is written as.
    if (yield* comparing(plain.childNodes, read.childNodes)) return true
    if (!(yield* making(read, plan))) return false
    return yield* comparing(read.childNodes, (yield* parsingPrefixed(source)).childNodes)
  } catch (error) {
    if (error instanceof TreeError) return false
    throw error
  }
}

function* splicing(document: TreeDocument, plan: Plan, changes: PlannedSplice[]): Steps<ProposedEdit | undefined> {
  const read = yield* parsingPrefixed(document.source)
  const made = yield* making(read, plan)
  if (!made) return undefined
  for (const attempt of [changes, ...impliedAgain(changes, made)]) {
    const now = yield* parsingPrefixed(changedSource(document.source, attempt))
    if (yield* comparing(read.childNodes, now.childNodes)) return yield* proposing(document, plan, attempt, made)
  }
  return undefined
}

/** An edit as it was made on a tree. */
interface Made {
  nodes: ChildNode[]
  /** Where the nodes stand now. */
  parent: ElementNode
  /** Where one was taken away. */
  left: ElementNode | undefined
}

/** Makes an edit on another reading of its text. @returns undefined where its places are others there */
function* making(read: DocumentNode, { sites }: Plan): Steps<Made | undefined> {
  const taken = sites.find(({ gone }) => gone > 0)
  const target = taken && (yield* counterpart(read, taken.parent.childNodes[taken.index]))
  const left = target?.parentNode
  if (taken && !(target && left && isElement(left))) return undefined
  const at = target && left ? left.childNodes.indexOf(target) : -1
  if (target && left) left.childNodes = left.childNodes.toSpliced(at, 1)
  const from = left && isElement(left) ? left : undefined
  const site = sites.find(({ nodes }) => nodes.length > 0)
  if (!site) return from && { nodes: [], parent: from, left: from }
  const place = site === taken ? from && { parent: from, index: at } : yield* placeOf(read, site)
  if (!place) return undefined
  const { parent, index } = place
  const text = site.texts[0]?.text ?? ''
  const isMove = sites.length > 1
  const nodes = isMove && target ? [target] : yield* parsingPrefixedFragment(text, parent, boundIn(parent))
  parent.childNodes = [...parent.childNodes.slice(0, index), ...nodes, ...parent.childNodes.slice(index)]
  return { nodes, parent, left: site === taken ? undefined : from }
}

/** Where new nodes come to stand: told by the text before them. */
function* placeOf(
  read: DocumentNode,
  { host, parent, span }: Site,
): Steps<{ parent: ElementNode; index: number } | undefined> {
  const found = host === parent ? yield* counterpart(read, host) : undefined
  if (!found || !span) return undefined
  let index = 0
  for (const { sourceCodeLocation: place } of found.childNodes) {
    if (!place) return undefined
    if (place.endOffset <= span.startOffset) index++
  }
  return { parent: found, index }
}

/** The element of another reading that begins at the same tag, and ends at the same one. */
function* counterpart(read: DocumentNode, node: ParentNode | ChildNode | undefined): Steps<ElementNode | undefined> {
  const place = node && isElement(node) ? node.sourceCodeLocation : undefined
  if (!node || !isElement(node) || !place) return undefined
  const found = yield* findingAt(read, place.startOffset, node.tagName)
  return found?.sourceCodeLocation?.endOffset === place.endOffset ? found : undefined
}

/** What makes the parser imply a parent again that is there without a tag of its own, once nothing stands in it. */
function impliedAgain(changes: PlannedSplice[], { left }: Made): PlannedSplice[][] {
  if (!left || left.sourceCodeLocation || left.childNodes.length > 0) return []
  const text = `<${left.tagName}></${left.tagName}>`
  return [changes.map(change => (change.text === '' ? { ...change, text } : change))]
}

/** The new text as everybody reads it: what is not as it was there may be more than the edit was asked for. */
function* proposing(
  document: TreeDocument,
  plan: Plan,
  changes: PlannedSplice[],
  { nodes: written, parent }: Made,
): Steps<ProposedEdit> {
  const parsed = yield* parsingDocument('html', changedSource(document.source, changes))
  const parents: ParentNode[] = []
  for (const each of plan.parents) parents.push((yield* parentIn(parsed.root, each, changes)) ?? parsed.root)
  const ranges = writtenRanges(changes)
  const isNew = ({ sourceCodeLocation: place }: ChildNode) =>
    place !== undefined &&
    place !== null &&
    ranges.some(([from, to]) => place.startOffset >= from && place.startOffset < to)
  const reread = written.length > 0 ? yield* findingTopmost(parsed.root, isNew) : []
  const inPlace = reread.filter(node => node.parentNode === parents.at(-1))
  const nodes = inPlace.length > 0 ? inPlace : reread
  const inserted = yield* writingMarkupIn('html', parent, written)
  return replaced(document, parsed, { changes, way: 'splice', inserted, nodes, parents, reread })
}

function* parentIn(root: DocumentNode, parent: ParentNode, changes: PlannedSplice[]): Steps<ElementNode | undefined> {
  const start = isElement(parent) ? parent.sourceCodeLocation?.startOffset : undefined
  if (start === undefined || !isElement(parent)) return undefined
  const before = changes.filter(({ end }) => end <= start)
  const distance = before.reduce((sum, { start: from, end, text }) => sum + text.length - (end - from), 0)
  return yield* findingAt(root, start + distance, parent.tagName)
}

function* findingAt(root: DocumentNode, start: number, tagName: string): Steps<ElementNode | undefined> {
  const found = yield* findingTopmost(
    root,
    node => isElement(node) && node.tagName === tagName && node.sourceCodeLocation?.startOffset === start,
  )
  return found.find(isElement)
}

/** The topmost nodes of which that is true, in tree order; contents of templates are not looked at. */
function* findingTopmost(root: DocumentNode, isWanted: (node: ChildNode) => boolean): Steps<ChildNode[]> {
  const found: ChildNode[] = []
  const open: ChildNode[] = root.childNodes.toReversed()
  for (let node = open.pop(), seen = 1; node; node = open.pop(), seen++) {
    if (seen % NODES_PER_STEP === 0) yield
    if (isWanted(node)) found.push(node)
    else if (isElement(node)) for (const child of node.childNodes.toReversed()) open.push(child)
  }
  return found
}
