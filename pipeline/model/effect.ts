/** What a document undergoes when a value that its items refer to disappears or changes (MOD-54, MOD-55). */

import { bringsProgram, findingPrograms } from '../language/liquid/programs.ts'
import { isConfiguration } from '../tree/microdata-value.ts'
import {
  type AnyNode,
  type ElementNode,
  type ParentNode,
  parentElement,
  rootElement,
  type TreeDocument,
} from '../tree/nodes.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { aroundIn } from './defaults.ts'
import type { Referrer } from './inheritance.ts'
import { findingItems, isItem, readingItem, tagPlace, valueReader } from './items.ts'
import { findingHeld, NOTHING_HELD, type Pair, type ReferredValues } from './losses.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import { findAll, followedIn, type Revision, revising } from './revise.ts'
import { closingShown, openingShown } from './shown-place.ts'
import { movedWith, setText } from './write-back.ts'

/** What a property that referred to a value does now that the value has ended. */
export interface Effect {
  referrer: Referrer
  value: string
  /** What it refers to instead; undefined when the value has disappeared. */
  to: string | undefined
}

/** How many items refer to a value by a property, as HTML has them or as pages show them. */
export function* countingReferrers(
  registry: Registry,
  { document }: WrittenPlace,
  { type, name }: Referrer,
  value: string,
): Steps<number> {
  const found = new Set<string>()
  for (const { root } of new Set([document, yield* readingAsWritten(document)])) {
    const read = valueReader(registry.vocabulary.ns)
    const seen = new Map<string, number>()
    for (const element of yield* findingItems(root)) {
      yield
      const item = yield* readingItem(element)
      if (!item.types.includes(type)) continue
      const tag = tagPlace(element)
      const times = (seen.get(tag) ?? 0) + 1
      seen.set(tag, times)
      if (item.properties.get(name)?.some(each => read(each, item) === value)) found.add(`${times} ${tag}`)
    }
  }
  return found.size
}

/** A document after effects. */
export type EffectResult =
  /** With items that are the same before and after, and the UTF-16 code units of values that were written into them. */
  | { place: WrittenPlace; pairs: Pair[]; written: number }
  /** The last item has gone, and the document with it. */
  | 'gone'
  /** No text would parse to what is wanted, or it would be program (COMP-147). */
  | 'unwritable'
  /** More would be written than may be. */
  | 'too-much'

/** What happens to one item. */
interface ItemFate {
  element: ElementNode
  /** The item goes; else these value elements are replaced. */
  goes: boolean
  values: Map<ElementNode, string | undefined>
  /** The item is a configuration item, whose values a `content` attribute holds on any element. */
  byContent: boolean
  /** UTF-16 code units of what replaces them. */
  written: number
}

/**
 * Lets the items of a document follow values, all at once: where pages show them otherwise (COMP-6), as they do there first,
 * since an item is whole there. Arguments and result are those of `followingIn`.
 */
export function* following(
  registry: Registry,
  place: WrittenPlace,
  effects: readonly Effect[],
  isOwn: boolean,
  most: number,
): Steps<EffectResult> {
  const shown = yield* openingShown(place)
  const first = shown && (yield* followingIn(registry, shown, effects, isOwn, most))
  if (!first || (typeof first === 'object' && first.place === shown))
    return yield* followingIn(registry, place, effects, isOwn, most)
  if (typeof first !== 'object') return first
  const then = yield* followingIn(registry, yield* closingShown(first.place), effects, isOwn, most - first.written)
  if (typeof then !== 'object') return then
  return { ...then, pairs: [...first.pairs, ...then.pairs], written: first.written + then.written }
}

/**
 * Lets the items of one reading of a document follow values.
 *
 * @param place in a document that belongs to the caller alone, and must not be used afterwards; its part says what
 *   earlier effects have touched
 * @param isOwn the document is being written to: it stays even when its last item goes
 * @param most UTF-16 code units of values that may be written
 */
function* followingIn(
  registry: Registry,
  place: WrittenPlace,
  effects: readonly Effect[],
  isOwn: boolean,
  most: number,
): Steps<EffectResult> {
  const { document } = place
  const items = yield* findingItems(document.root)
  const changes = yield* findingChanges(registry, items, effects)
  if (changes.length === 0) return { place, pairs: [], written: 0 }
  const written = changes.reduce((sum, change) => sum + change.written, 0)
  if (written > most) return 'too-much'
  const going = new Set(changes.flatMap(({ element, goes }) => (goes ? element : [])))
  if (going.size > 0 && !isOwn && (yield* isNothingLeft(document, items, going))) return 'gone'
  const staying = changes.flatMap(({ element, goes }) => (goes ? [] : element))
  const before: ReferredValues[] = []
  for (const element of staying) before.push(yield* findingHeld(registry, element))
  const { ns } = registry.vocabulary
  const programs = yield* findingPrograms(document, ns)
  const revisions = yield* revisionsFor(changes)
  const parents = new Set<ParentNode>(place.part?.parents)
  const fresh: ElementNode[] = []
  for (const revision of revisions) {
    const parent = revision.op === 'replace' ? parentElement(revision.element) : undefined
    if (parent) parents.add(parent)
    if (revision.op === 'replace') for (const element of revision.by) fresh.push(element)
  }
  const nodes = [...(place.part?.nodes ?? []), ...fresh]
  const followed = (place.followed ?? []).flatMap(element => element ?? [])
  const revised = yield* revising(document, revisions, [...parents, ...nodes, ...staying, ...followed])
  if (!revised || bringsProgram(programs, yield* findingPrograms(revised.document, ns))) return 'unwritable'
  const pairs: Pair[] = []
  for (const [i, element] of staying.entries()) {
    yield
    const now = revised.find(element) as ElementNode | undefined
    pairs.push([before[i] ?? NOTHING_HELD, now ? yield* findingHeld(registry, now) : NOTHING_HELD])
  }
  const brought = place.part?.brought ?? place.part?.nodes ?? []
  const part = {
    nodes: findAll(revised, nodes),
    parents: findAll(revised, [...parents]),
    brought: findAll(revised, brought),
  }
  return { place: { document: revised.document, part, ...followedIn(revised, place.followed) }, pairs, written }
}

/** What becomes of an element: it goes, or has another value. */
type Replacement = Pick<ItemFate, 'element' | 'byContent'> & { to: string | undefined }

/** Of elements in each other the outermost is replaced: what is in it, changed where it stands, it takes along. */
function* revisionsFor(changes: readonly ItemFate[]): Steps<Revision[]> {
  /** By element, which may be a value of many items. */
  const replaced = new Map<AnyNode, Replacement>()
  for (const { element, goes, values, byContent } of changes)
    for (const [old, to] of goes ? [[element, undefined] as const] : values)
      if (!replaced.has(old)) replaced.set(old, { element: old, to, byContent })
  const outermost: Replacement[] = []
  const emptied = new Set<ParentNode>()
  for (const each of replaced.values()) {
    yield
    const { element, to, byContent } = each
    const parent = element.parentNode
    if (!parent || !aroundIn(parent, replaced)) outermost.push(each)
    else if (to === undefined) emptied.add(parent)
    else setText(element, to, byContent)
  }
  const goes = (node: AnyNode) => replaced.has(node) && replaced.get(node)?.to === undefined
  for (const parent of emptied) parent.childNodes = parent.childNodes.filter(node => !goes(node))
  const revisions: Revision[] = []
  for (const { element, to, byContent } of outermost) {
    yield
    revisions.push({ op: 'replace', element, by: to === undefined ? [] : [movedWith(element, to, byContent)] })
  }
  return revisions
}

function* findingChanges(
  registry: Registry,
  items: readonly ElementNode[],
  effects: readonly Effect[],
): Steps<ItemFate[]> {
  const { ns } = registry.vocabulary
  const read = valueReader(ns)
  /** By item type, by name of the property, by value. */
  const wanted = new Map<string, Map<string, Map<string, Effect>>>()
  for (const [i, effect] of effects.entries()) {
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const { type, name } = effect.referrer
    const byName = wanted.get(type) ?? new Map<string, Map<string, Effect>>()
    const byValue = byName.get(name) ?? new Map<string, Effect>()
    wanted.set(type, byName.set(name, byValue.set(effect.value, effect)))
  }
  const changes: ItemFate[] = []
  for (const element of items) {
    yield
    const item = yield* readingItem(element)
    const byContent = isConfiguration(item.types, ns)
    const change: ItemFate = { element, goes: false, values: new Map(), byContent, written: 0 }
    for (const [name, byValue] of item.types.flatMap(type => [...(wanted.get(type) ?? [])])) {
      const elements = item.properties.get(name) ?? []
      const matching: { each: ElementNode; effect: Effect }[] = []
      let disappearing = 0
      for (const [i, each] of elements.entries()) {
        if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
        const effect = byValue.get(read(each, item) ?? '')
        if (!effect) continue
        matching.push({ each, effect })
        if (effect.to === undefined) disappearing++
      }
      for (const [i, { each, effect }] of matching.entries()) {
        if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
        if (effect.to === undefined && goes(effect.referrer, elements.length, disappearing)) change.goes = true
        if (change.values.has(each)) continue
        change.values.set(each, effect.to)
        change.written += effect.to?.length ?? 0
      }
    }
    if (change.values.size > 0) changes.push(change)
  }
  return changes
}

/** MOD-54: by the cardinality of the referring property, whether the item goes with values that disappear. */
function goes({ cardinality }: Referrer, all: number, disappearing: number): boolean {
  const { text } = cardinality
  return text === '1..1' || (text === '1..n' && disappearing === all)
}

/** Whether a document holds no item outside of those that go, or is nothing but one of them. */
function* isNothingLeft(
  document: TreeDocument,
  items: readonly ElementNode[],
  going: ReadonlySet<ElementNode>,
): Steps<boolean> {
  const root = rootElement(document)
  if (root && going.has(root)) return true
  const inside = new Set<ElementNode>()
  for (const item of items) {
    yield
    const outer = itemAround(item)
    if (going.has(item) || (outer && inside.has(outer))) inside.add(item)
    else return false
  }
  return true
}

function itemAround(element: ElementNode): ElementNode | undefined {
  let outer = parentElement(element)
  while (outer && !isItem(outer)) outer = parentElement(outer)
  return outer
}
