/**
 * Transitions of items as one step of a write on the public plane: what no rule permits is refused (REA-100 to REA-109), what
 * reaches a state that a handler waits for is told (REA-122).
 */

import { findingItems, tagPlace } from '../model/items.ts'
import { touching } from '../model/place.ts'
import type { Registry } from '../model/registry.ts'
import { type ConstraintViolation, LISTED } from '../model/violations.ts'
import type { PlacedHandler } from '../react/declared/reactions.ts'
import type { Site } from '../site/site.ts'
import type { Edit, PlannedSplice, ProposedEdit, View, Way } from '../tree/edit/edit.ts'
import { editOf, readingFor } from '../tree/edit/reading.ts'
import { type ElementNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { readingAsWritten, type Shown } from '../tree/readings.ts'
import { revisionOf } from '../tree/revisions.ts'
import { writingAtMost } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { itemsAround, placesOf } from './edit-losses.ts'
import {
  type Ambiguous,
  arePermitting,
  type EditStake,
  type EditStates,
  type ItemStates,
  itemReader,
  type Pair,
  pairing,
  type ReadItems,
  rulesOf,
  type ShownStates,
  stateOf,
  staying,
  typesNamed,
} from './transition-items.ts'
import { type Noted, noted } from './transition-races.ts'
import { findingAmbiguity, violation, withViolations } from './transition-violations.ts'

/** Told of handlers that fire, once the write is committed. A write without it is not covered (REA-103). */
export interface TransitionSink {
  fired(fired: readonly Fired[]): void
}

/** A handler with the item that fires it. */
export interface Fired {
  handler: PlacedHandler
  /** Path of the document. */
  path: string
  type: string
  /** Primary key of the item, where it has one. */
  key: { property: string; value: string } | undefined
  /** Place of the item among those of its document, as the write alone leaves it. */
  place: number
  /** The item as committed, as a property `body`; undefined where it is too large to be told (REA-95). */
  item: string | undefined
}

/** What a write does to the items that somebody watches. */
export interface Transitions {
  violations: readonly ConstraintViolation[]
  fired: readonly Fired[]
}

export const NO_TRANSITIONS: Transitions = { violations: [], fired: [] }

/**
 * UTF-16 code units of one item that is told, and of all that one write has told: items stand in items, so that a small page
 * can hold one text in hundreds of them (REA-95).
 */
const LARGEST_TOLD = 1024 * 1024
const MOST_TOLD = 8 * LARGEST_TOLD

export class TransitionJudge {
  readonly #registry: Registry
  /** By the property that they watch. */
  readonly #handlersOf: ReadonlyMap<string, readonly { order: number; handler: PlacedHandler }[]>
  readonly #isWatching: boolean
  readonly #read: ReadItems
  /** What may still be told. */
  #room = MOST_TOLD

  private constructor(site: Site) {
    const { constraints, handlers } = site.declarations('reactions')
    this.#registry = site.model
    const ordered = handlers.map((handler, order) => ({ order, handler }))
    this.#handlersOf = Map.groupBy(ordered, ({ handler }) => handler.handler.property)
    this.#isWatching = constraints.length > 0
    this.#read = itemReader(site.model, { constraints, handlers })
  }

  /** @returns undefined where nobody watches anything, or the write is not covered */
  static of(site: Site, sink: TransitionSink | undefined): TransitionJudge | undefined {
    if (!sink) return undefined
    const { constraints, handlers } = site.declarations('reactions')
    return constraints.length + handlers.length === 0 ? undefined : new TransitionJudge(site)
  }

  /**
   * A whole document before and after; undefined where there is none (REA-104). Items are judged as pages show them as well
   * (COMP-6).
   */
  *whole(path: string, before: TreeDocument | undefined, after: TreeDocument | undefined): Steps<Transitions> {
    const own = yield* this.#whole(path, before, after, after)
    const [old, now] = [before && (yield* readingAsWritten(before)), after && (yield* readingAsWritten(after))]
    return old === before && now === after ? own : withViolations(own, yield* this.#whole(path, old, now))
  }

  *#whole(
    path: string,
    before: TreeDocument | undefined,
    after: TreeDocument | undefined,
    told?: TreeDocument,
  ): Steps<Transitions> {
    const { pairs, ambiguous } = pairing(yield* this.statesOf(before), yield* this.statesOf(after))
    return yield* this.#judged(path, told, pairs, ambiguous)
  }

  /**
   * Items of a document that the server itself changes: each is followed to where it stands afterwards (REA-103).
   *
   * @param before as `statesOf` has read them
   * @param followed where each of them stands in `after`
   * @param shown the same items as `shownStates` has read them before
   */
  *following(
    path: string,
    before: readonly ItemStates[],
    after: TreeDocument | undefined,
    followed: readonly (ElementNode | undefined)[],
    shown?: ShownStates,
  ): Steps<Transitions> {
    const now = new Map((yield* this.statesOf(after)).map(item => [item.element, item]))
    const pairs = before.map((item, i): Pair => {
      const element = followed[i]
      const same = element && now.get(element)
      if (element) now.delete(element)
      return { before: item, after: same }
    })
    const still = after && (yield* this.shownStates(after, followed))
    const asShown = pairs.map(
      (pair, i): Pair => ({
        before: shown ? shown[i] : pair.before,
        after: still ? still[i] : pair.after,
      }),
    )
    for (const item of now.values()) pairs.push({ before: undefined, after: item })
    const own = yield* this.#judged(path, after, pairs, [])
    return shown || still ? withViolations(own, yield* this.#judged(path, undefined, asShown, [])) : own
  }

  /** Items of a document as pages show them; undefined where that is as HTML has them. */
  *shownStates(document: TreeDocument, elements: readonly (ElementNode | undefined)[]): Steps<ShownStates | undefined> {
    const read = yield* readingAsWritten(document)
    if (read === document) return undefined
    const places = new Map((yield* this.statesOf(read)).map(item => [tagPlace(item.element), item]))
    return elements.map(element => element && places.get(tagPlace(element)))
  }

  /**
   * What fires for an item that effects of the same write have left in its state, but may have changed otherwise.
   *
   * @param before the item as the write alone leaves it
   * @param element where it stands in `after`
   * @returns undefined when its state has changed: then the effect fires, or nothing does
   */
  *still(fired: Fired, before: ItemStates, after: TreeDocument, element: ElementNode): Steps<Fired | undefined> {
    const { handler, path, place } = fired
    const { property } = handler.handler
    const [now] = yield* this.#read(after, [element])
    return now && stateOf(now, property) === stateOf(before, property)
      ? yield* this.#fired(handler, path, place, now)
      : undefined
  }

  /** Items of a document in tree order. */
  *statesOf(document: TreeDocument | undefined): Steps<ItemStates[]> {
    return document ? yield* this.#read(document, yield* findingItems(document.root)) : []
  }

  /** What an edit can change, to be read before it is made. */
  *stake(document: TreeDocument, wanted: Edit): Steps<EditStake> {
    const states = yield* this.#stake(document, wanted)
    const read = wanted.asWritten ? yield* readingFor(document, wanted) : undefined
    const there = read && editOf(document, wanted, read)
    if (!there) return states
    return { ...states, shown: { ...(yield* this.#stake(read, there)), tree: read, wanted: there } }
  }

  *#stake(document: TreeDocument, wanted: Edit): Steps<EditStates> {
    const around = yield* this.#read(document, itemsAround(document, placesOf(wanted)))
    const node = wanted.op === 'insert' || wanted.op === 'move' ? undefined : wanted.target
    if (!node?.parentNode) return { around, taken: [] }
    const { content } = yield* touching({ document, part: { nodes: [node], parents: [node.parentNode] } })
    return { around, taken: yield* this.#read(document, content) }
  }

  /** An edit while it is shown (REA-105), as pages show its items as well (COMP-6). @param tree the document without it */
  *edit(
    path: string,
    { shown: before, ...states }: EditStake,
    wanted: Edit,
    { tree, view, proposal: { way, changes, shown } }: { tree: TreeDocument; view: View; proposal: ProposedEdit },
  ): Steps<Transitions> {
    // Where prefixed elements stand otherwise for the standard, it has other items in what is written.
    const isElsewhere = way !== 'reparsed' && shown && revisionOf(view.document) !== undefined
    const own = yield* isElsewhere
      ? this.#elsewhere(path, wanted, { tree, view, changes })
      : this.#edit(path, states, wanted, { tree, view, way }, view.document)
    if (!before || !shown) return own
    const written = { tree: before.tree, view: shown, way }
    return withViolations(own, yield* this.#edit(path, before, before.wanted, written))
  }

  *#elsewhere(
    path: string,
    wanted: Edit,
    { tree, view, changes }: { tree: TreeDocument; view: View; changes: readonly PlannedSplice[] },
  ): Steps<Transitions> {
    const stay = yield* staying(yield* this.statesOf(tree), yield* this.statesOf(view.document), changes)
    if (wanted.op !== 'move') return yield* this.#exchanged(path, stay.taken, wanted, view, stay, view.document)
    const { pairs, ambiguous } =
      stay.taken.length === stay.brought.length
        ? { pairs: stay.taken.map((before, i): Pair => ({ before, after: stay.brought[i] })), ambiguous: [] }
        : pairing(stay.taken, stay.brought)
    return yield* this.#judged(path, view.document, [...stay.pairs, ...pairs], ambiguous)
  }

  /** @param told where items are told that fire something; nothing fires without it */
  *#edit(
    path: string,
    { around, taken }: EditStates,
    wanted: Edit,
    { tree, view, way }: { tree: TreeDocument; view: Shown; way: Way },
    told?: TreeDocument,
  ): Steps<Transitions> {
    const after = yield* this.#read(view.document, itemsAround(view.document, view.parents))
    // What came out other than the edit alone makes it is compared as a whole.
    if (way === 'reparsed' || after.length !== around.length) return yield* this.#whole(path, tree, view.document, told)
    const pairs = around.map((before, i): Pair => ({ before, after: after[i] }))
    if (wanted.op === 'move') return yield* this.#judged(path, told, pairs, [])
    const { content } = yield* touching({ document: view.document, part: view })
    const brought = yield* this.#read(view.document, content)
    if (wanted.op === 'insert') {
      for (const item of brought) pairs.push({ before: undefined, after: item })
      return yield* this.#judged(path, told, pairs, [])
    }
    return yield* this.#exchanged(path, taken, wanted, view, { pairs, brought }, told)
  }

  /** Items that take each other's place; `pairs` are those that stay. */
  *#exchanged(
    path: string,
    taken: readonly ItemStates[],
    wanted: Edit,
    view: Shown,
    { pairs, brought }: { pairs: Pair[]; brought: readonly ItemStates[] },
    told: TreeDocument | undefined,
  ): Steps<Transitions> {
    const [old, now] = [taken[0], brought[0]]
    const isSame =
      wanted.op === 'replace' &&
      old !== undefined &&
      now !== undefined &&
      old.element === wanted.target &&
      now.element === view.nodes.find(isElement) &&
      old.type === now.type
    if (isSame) pairs.push({ before: old, after: now })
    const nested = pairing(taken.slice(isSame ? 1 : 0), brought.slice(isSame ? 1 : 0))
    return yield* this.#judged(path, told, [...pairs, ...nested.pairs], nested.ambiguous)
  }

  *#judged(
    path: string,
    after: TreeDocument | undefined,
    pairs: readonly Pair[],
    ambiguous: readonly Ambiguous[],
  ): Steps<Transitions> {
    const violations: ConstraintViolation[] = []
    const firing: { handler: PlacedHandler; item: ItemStates }[] = []
    for (const pair of pairs) {
      for (const violation of this.#violationsOf(pair)) violations.push(violation)
      for (const each of this.#firing(pair)) firing.push(each)
      yield
    }
    // More are told to nobody.
    for (const each of ambiguous) if (violations.length < LISTED) violations.push(...(yield* findingAmbiguity(each)))
    if (firing.length === 0 || !after) return { violations, fired: [] }
    const places = new Map((yield* findingItems(after.root)).map((element, place) => [element, place]))
    const fired: Fired[] = []
    for (const { handler, item } of firing)
      fired.push(yield* this.#fired(handler, path, places.get(item.element) ?? -1, item))
    return { violations, fired }
  }

  #violationsOf({ before, after }: Pair): ConstraintViolation[] {
    const violations: ConstraintViolation[] = []
    // What neither of both has is as it was.
    const properties = new Set([...(before?.values.keys() ?? []), ...(after?.values.keys() ?? [])])
    for (const property of properties) {
      if (!before?.watchers.has(property) && !after?.watchers.has(property)) continue
      const rules = rulesOf({ before, after }, property)
      const [old, to] = [stateOf(before, property), stateOf(after, property)]
      const from = typeof old === 'object' ? undefined : old
      if (typeof to === 'object') violations.push(violation({ before, after }, property, from, 'several', rules))
      else if (from !== to && !arePermitting(rules, from, to))
        violations.push(violation({ before, after }, property, from, { to }, rules))
    }
    return violations
  }

  #firing({ before, after }: Pair): { handler: PlacedHandler; item: ItemStates }[] {
    if (!after) return []
    // By what the item has, in the order of the handlers.
    const watching = [...after.values.keys()].flatMap(name => this.#handlersOf.get(name) ?? [])
    return watching
      .sort((a, b) => a.order - b.order)
      .flatMap(({ handler }) => {
        const { property, becomes, selector } = handler.handler
        const [old, now] = [stateOf(before, property), stateOf(after, property)]
        if (typeof now !== 'string' || now === old || !becomes.includes(now)) return []
        const isNamed = typesNamed(selector).some(({ type, isa }) =>
          after.types.some(each => each === type || (isa && this.#registry.isa(each, type))),
        )
        return isNamed ? [{ handler, item: after }] : []
      })
  }

  *#fired(
    handler: PlacedHandler,
    path: string,
    place: number,
    { element, type, types, key }: ItemStates,
  ): Steps<Fired> {
    const property = types.map(each => this.#registry.schema(each)?.key?.name).find(name => name !== undefined)
    return {
      handler,
      path,
      place,
      type,
      key: property !== undefined && key !== undefined ? { property, value: key } : undefined,
      item: yield* this.#told(element),
    }
  }

  *#told(element: ElementNode): Steps<string | undefined> {
    const most = Math.min(LARGEST_TOLD, this.#room)
    const { startOffset = 0, endOffset = 0 } = element.sourceCodeLocation ?? {}
    // What is far too large is not written to find out.
    if (endOffset - startOffset > 2 * most) return undefined
    const attrs = element.attrs.filter(({ name, prefix }) => name !== 'itemprop' || prefix)
    const body = { ...element, attrs: [{ name: 'itemprop', value: 'body' }, ...attrs], parentNode: null }
    const item = yield* writingAtMost(body, 'html', most)
    this.#room -= item?.length ?? most
    return item
  }

  /** The states of the existing items that an edit touches (REA-108). */
  *note(document: TreeDocument, wanted: Edit): Steps<Noted> {
    // What only adds, or moves what is there, races with nobody.
    if (!this.#isWatching || wanted.op === 'insert' || wanted.op === 'move') return new Map()
    const { around, taken, shown } = yield* this.stake(document, wanted)
    return noted([...around, ...taken], shown && [...shown.around, ...shown.taken])
  }

  /** The same of a whole document. */
  *noteWhole(document: TreeDocument | undefined): Steps<Noted> {
    if (!this.#isWatching || !document) return new Map()
    const read = yield* readingAsWritten(document)
    return noted(yield* this.statesOf(document), read === document ? [] : yield* this.statesOf(read))
  }
}
