/** What an edit takes away that items of the site may refer to (MOD-52, MOD-55). */

import { valueKey } from '../model/entries.ts'
import { isItem } from '../model/items.ts'
import {
  findingHeld,
  type Loss,
  listingHeld,
  NOTHING_HELD,
  type Pair,
  pairingItems,
  type ReferredValues,
  tracing,
} from '../model/losses.ts'
import { elementsAround, touching } from '../model/place.ts'
import type { Registry } from '../model/registry.ts'
import type { Entry } from '../store/resource.ts'
import type { Edit, Placement, View, Way } from '../tree/edit/edit.ts'
import { editOf } from '../tree/edit/reading.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import type { Shown as ReadingShown } from '../tree/readings.ts'
import type { Steps } from '../tree/steps.ts'

/** Items that are looked at in one step. */
const ITEMS_PER_STEP = 100

/** Items at the place of an edit, with what they hold before it. */
interface AtPlace {
  /** Items around the places that are written. */
  around: readonly ReferredValues[]
  /** The element that is removed, replaced or moved, and the items inside it. */
  taken: readonly ReferredValues[]
}

/** Items that an edit can take values from; nothing when nobody refers to anything. */
export interface Stake extends AtPlace {
  /** The same as pages show them, where that is otherwise than HTML has them (COMP-6), and all items that they show. */
  shown?: AtPlace & { all: readonly ReferredValues[] }
}

/** @param read the document as composition reads it */
export function* findingStake(
  registry: Registry,
  document: TreeDocument,
  wanted: Edit,
  read: TreeDocument,
): Steps<Stake> {
  if (!registry.hasGuarded) return { around: [], taken: [] }
  const own = yield* findingAtPlace(registry, document, wanted)
  if (read === document) return own
  const there = editOf(document, wanted, read)
  const shown = there ? yield* findingAtPlace(registry, read, there) : { around: [], taken: [] }
  return { ...own, shown: { ...shown, all: yield* listingHeld(registry, read) } }
}

function* findingAtPlace(registry: Registry, document: TreeDocument, wanted: Edit): Steps<AtPlace> {
  const around: ReferredValues[] = []
  for (const element of itemsAround(document, placesOf(wanted))) around.push(yield* findingHeld(registry, element))
  const node = wanted.op === 'insert' ? undefined : wanted.op === 'move' ? wanted.source : wanted.target
  if (!node?.parentNode) return { around, taken: [] }
  const { content } = yield* touching({ document, part: { nodes: [node], parents: [node.parentNode] } })
  const taken: ReferredValues[] = []
  for (const [i, element] of content.entries()) {
    if (i % ITEMS_PER_STEP === 0) yield
    if (i === 0 || isItem(element)) taken.push(yield* findingHeld(registry, element))
  }
  return { around, taken }
}

/** Whose children an edit changes. */
export function placesOf(wanted: Edit): (ParentNode | null)[] {
  const anchored = (anchor: ElementNode, placement: Placement) =>
    placement === 'append' || placement === 'prepend' ? (anchor.content ?? anchor) : anchor.parentNode
  if (wanted.op === 'insert') return [anchored(wanted.anchor, wanted.placement)]
  if (wanted.op === 'move') return [wanted.source.parentNode, anchored(wanted.anchor, wanted.placement)]
  return [wanted.target.parentNode]
}

/** Items around places, outermost first. */
export function itemsAround(document: TreeDocument, parents: readonly (ParentNode | null)[]): ElementNode[] {
  const places = parents.flatMap(parent => parent ?? [])
  return elementsAround(document, places).filter(isItem)
}

/** An edit while it is looked at. */
interface Shown {
  /** The document without it, in both readings. */
  tree: TreeDocument
  read: TreeDocument
  /** The document with it as composition reads it. */
  now: TreeDocument
  /** What it changes there, where it was made there. */
  asShown: ReadingShown | undefined
  view: View
  way: Way
  /** What the document would hold. */
  entries: readonly Entry[]
}

/** Items around the place that is written, and the item at it, are the same before and after (MOD-55). */
export function* findingEditLosses(registry: Registry, stake: Stake, shown: Shown): Steps<Loss[]> {
  if (!registry.hasGuarded) return []
  const { around, taken } = stake
  const { tree, read, now, asShown, view, way } = shown
  // Of a document that came out other than the edit alone makes it, all is looked at.
  const held = way === 'reparsed' ? yield* listingHeld(registry, tree) : [...around, ...taken]
  const losses = yield* findingGone([...held, ...(stake.shown?.all ?? [])], shown)
  if (losses.length === 0) return losses
  const pairs = yield* pairsAt(registry, stake, view)
  if (stake.shown && asShown) for (const pair of yield* pairsAt(registry, stake.shown, asShown)) pairs.push(pair)
  if (read !== tree || now !== view.document)
    for (const pair of yield* pairingItems(registry, read, now)) pairs.push(pair)
  return yield* tracing(losses, pairs)
}

/** Items that are the same before and after. */
function* pairsAt(registry: Registry, { around, taken: [old] }: AtPlace, view: ReadingShown): Steps<Pair[]> {
  const now = view.nodes.find(isElement)
  const pairs: Pair[] = old && now ? [[old, yield* findingHeld(registry, now)]] : []
  const after: ReferredValues[] = []
  for (const element of itemsAround(view.document, view.parents)) after.push(yield* findingHeld(registry, element))
  if (after.length === around.length)
    for (const [i, held] of around.entries()) pairs.push([held, after[i] ?? NOTHING_HELD])
  return pairs
}

/** What no item of the document holds any more. */
function* findingGone(stake: readonly ReferredValues[], { entries }: Shown): Steps<Loss[]> {
  const gone = new Map<string, Loss>()
  for (const held of stake) {
    for (const { type, property, values } of held.values())
      for (const value of values) gone.set(valueKey(type, property, value), { type, property, value })
  }
  if (gone.size === 0) return []
  for (const [i, { keys }] of entries.entries()) {
    if (i % ITEMS_PER_STEP === 0) yield
    for (const key of keys) gone.delete(key)
  }
  return [...gone.values()]
}
