/** Elements that code has found, where they stand now: their documents may have changed since, also by the code itself (REA-63). */

import { Fault } from '../fault.ts'
import type { SelectorRange } from '../http/range.ts'
import { SesselError } from '../language/sessel/sessel.ts'
import type { ElementValue } from '../language/values.ts'
import { findingElements } from '../model/items.ts'
import { absent } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { indexingAddresses, uniqueSelector } from '../tree/address.ts'
import { comparingTexts } from '../tree/long-text.ts'
import type { ChildNode, ElementNode, TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { inTurns, type Steps } from '../tree/steps.ts'

/** An element to be written to. */
export interface Standing {
  path: string
  range: SelectorRange
  /** Its markup: whatever else is found there is another element. */
  expected: string
}

/** @throws SesselError for an element that is not stored */
export function pathOf({ source }: ElementValue): string {
  if (source?.path === undefined) throw new SesselError('TypeError', 'only a stored element can be deleted')
  return source.path
}

/**
 * @param deleted elements that the same code has deleted before
 * @throws Fault 404 without its document, 412 where the element has been changed or is gone; SesselError as `pathOf`
 */
export async function standing(site: Site, value: ElementValue, deleted: readonly ElementValue[]): Promise<Standing> {
  const path = pathOf(value)
  const file = await site.findParsed(path)
  if (!file?.isDocument) throw absent()
  const tree = site.tree(file)
  const release = pinTree(tree)
  try {
    const { selector, expected } = await inTurns(addressing(value, tree, deleted), tree.source.length)
    return { path, range: { unit: 'selector', selector, wire: selector }, expected }
  } finally {
    release()
  }
}

function* addressing(
  { node, source }: ElementValue,
  tree: TreeDocument,
  deleted: readonly ElementValue[],
): Steps<{ selector: string; expected: string }> {
  const before = source?.document ?? tree
  const element = before === tree ? node : yield* following(node, before, tree)
  if (before !== tree && source) {
    const own = deleted.filter(other => other.source?.path === source.path)
    if (yield* othersTookAlike(node, before, tree, own)) throw elsewhere()
  }
  const expected = yield* writingMarkup(node, before.kind)
  if (!element || (element !== node && expected !== (yield* writingMarkup(element, tree.kind)))) throw elsewhere()
  return { selector: uniqueSelector(element, tree, yield* indexingAddresses(tree)), expected }
}

/** What was found at the place of an element is another one, or nothing is there any more. */
export function elsewhere(): Fault {
  return new Fault(412, 'PreconditionFailed', 'The element has been changed since the code has found it.')
}

/**
 * The element of a later version that stands in what precedes all changes, or in what follows them; between two of them, the
 * only one that is written alike.
 */
function* following(
  { sourceCodeLocation, tagName }: ElementNode,
  before: TreeDocument,
  after: TreeDocument,
): Steps<ElementNode | undefined> {
  if (!sourceCodeLocation) return undefined
  const { startOffset, endOffset } = sourceCodeLocation
  const [old, now] = [before.source, after.source]
  if (yield* comparingTexts(old.slice(0, endOffset), now.slice(0, endOffset)))
    return yield* finding(after, startOffset, tagName)
  const rest = old.length - startOffset
  if (rest <= now.length && (yield* comparingTexts(old.slice(startOffset), now.slice(now.length - rest))))
    return yield* finding(after, now.length - rest, tagName)
  const alike = yield* findingAlike(after.root.childNodes, now, old.slice(startOffset, endOffset), tagName)
  return alike.length === 1 ? alike[0] : undefined
}

/** Elements that are written alike take each other's places: where others have deleted one, nobody knows which is left. */
function* othersTookAlike(
  { sourceCodeLocation: place, tagName }: ElementNode,
  before: TreeDocument,
  after: TreeDocument,
  deleted: readonly ElementValue[],
): Steps<boolean> {
  if (!place) return false
  const markup = before.source.slice(place.startOffset, place.endOffset)
  const counting = function* (nodes: readonly ChildNode[], { source }: TreeDocument): Steps<number> {
    return (yield* findingAlike(nodes, source, markup, tagName)).length
  }
  const earlier = yield* counting(before.root.childNodes, before)
  if (earlier < 2) return false
  let left = yield* counting(after.root.childNodes, after)
  for (const { node, source } of deleted) if (source?.document) left += yield* counting([node], source.document)
  return left < earlier
}

/** Selectors look into the templates of XML. */
const everywhere = () => true

function* finding({ root }: TreeDocument, start: number, tagName: string): Steps<ElementNode | undefined> {
  const isThere = (element: ElementNode) =>
    element.sourceCodeLocation?.startOffset === start && element.tagName === tagName
  const [found] = yield* findingElements(root.childNodes, isThere, everywhere)
  return found
}

/** Those of the same length do not overlap, so that each character is compared once. */
function* findingAlike(
  nodes: readonly ChildNode[],
  source: string,
  markup: string,
  tagName: string,
): Steps<ElementNode[]> {
  const isAsLong = ({ tagName: name, sourceCodeLocation: place }: ElementNode) =>
    name === tagName && !!place && place.endOffset - place.startOffset === markup.length
  const found: ElementNode[] = []
  for (const element of yield* findingElements(nodes, isAsLong, everywhere)) {
    const place = element.sourceCodeLocation
    if (yield* comparingTexts(source.slice(place?.startOffset, place?.endOffset), markup)) found.push(element)
  }
  return found
}
