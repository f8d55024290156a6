/** Items as transitions see them: which one each is, and the states of the properties that are watched (REA-100 to REA-105). */

import { DocumentValues, isItem, type ModelItem, readingItem } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import type { PlacedConstraint, PlacedHandler } from '../react/declared/reactions.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { askingIn, type Selector, SelectorError } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'

/** Rules of transitions of a site as they stand. */
export interface TransitionRules {
  constraints: readonly PlacedConstraint[]
  handlers: readonly PlacedHandler[]
}

/** One item before or after a write. */
export interface ItemStates {
  element: ElementNode
  /** First of its types; empty for an item without any. */
  type: string
  types: readonly string[]
  /** Value of its primary key (MOD-44). */
  key: string | undefined
  /** Values of the properties that somebody watches, exactly as they are. */
  values: ReadonlyMap<string, readonly string[]>
  /** Constraints that select it, by property: those of each selector, which all items share that it selects. */
  watchers: ReadonlyMap<string, readonly Watchers[]>
}

/** Constraints of one selector for one property. */
export type Watchers = readonly PlacedConstraint[]

/** Items that are looked at in one step. */
const ITEMS_PER_STEP = 50

/** Selectors that an item is asked for in one step. */
const SELECTORS_PER_STEP = 200

/** Values that are read in one step. */
const VALUES_PER_STEP = 500

/** Reads items of one document, in steps. */
export type ReadItems = (document: TreeDocument, elements: readonly ElementNode[]) => Steps<ItemStates[]>

export function itemReader(registry: Registry, { constraints, handlers }: TransitionRules): ReadItems {
  const properties = new Set([
    ...constraints.map(({ constraint }) => constraint.property),
    ...handlers.map(({ handler }) => handler.property),
  ])
  const watching = bySelector(constraints)
  return function* (document, elements) {
    const read = new DocumentValues(registry.vocabulary.ns)
    const matchers = watching.map(({ selector, lists }) => ({ lists, asking: askingIn(selector, document) }))
    const found: ItemStates[] = []
    for (const element of elements) {
      if (!isItem(element)) continue
      if (found.length % ITEMS_PER_STEP === 0) yield
      const item = yield* readingItem(element)
      const values = new Map<string, string[]>()
      for (const name of properties) values.set(name, yield* readingTexts(read, item, name))
      const watchers = new Map<string, Watchers[]>()
      for (const [i, { lists, asking }] of matchers.entries()) {
        if (i % SELECTORS_PER_STEP === SELECTORS_PER_STEP - 1) yield
        if (!(yield* askingWhether(asking(element)))) continue
        for (const [property, list] of lists) {
          const known = watchers.get(property)
          if (known) known.push(list)
          else watchers.set(property, [list])
        }
      }
      const [type = ''] = item.types
      const keyed = item.types.map(each => registry.schema(each)?.key?.name).find(name => name !== undefined)
      const [key] = keyed === undefined ? [] : yield* readingTexts(read, item, keyed)
      found.push({ element, type, types: item.types, key: key || undefined, values, watchers })
    }
    return found
  }
}

function* readingTexts(read: DocumentValues, item: ModelItem, name: string): Steps<string[]> {
  const list: string[] = []
  for (const value of item.properties.get(name) ?? []) {
    list.push((yield* read.reading(value, item)) ?? '')
    if (list.length % VALUES_PER_STEP === 0) yield
  }
  return list
}

/** Most constraints share the selector of a type: what it selects is asked once. */
function bySelector(constraints: readonly PlacedConstraint[]) {
  const groups = new Map<Selector, Map<string, PlacedConstraint[]>>()
  for (const placed of constraints) {
    const { selector, constraint } = placed
    let lists = groups.get(selector)
    if (!lists) groups.set(selector, (lists = new Map()))
    const list = lists.get(constraint.property)
    if (list) list.push(placed)
    else lists.set(constraint.property, [placed])
  }
  return [...groups].map(([selector, lists]) => ({ selector, lists }))
}

/**
 * What takes too long to tell counts as selected, and so does what is no selector here, as where a function of it finds several
 * elements (COMP-139): content must not switch a constraint off.
 */
function* askingWhether(isSelected: Steps<boolean>): Steps<boolean> {
  try {
    return yield* isSelected
  } catch (error) {
    if (error instanceof SelectorError) return true
    throw error
  }
}

/** The state of a property (REA-102): undefined when it is absent, `several` when it has more than one value. */
export function stateOf(item: ItemStates | undefined, property: string): string | undefined | { several: true } {
  const values = item?.values.get(property) ?? []
  return values.length > 1 ? { several: true } : values[0]
}

/** The same item before and after; one side is missing when it enters or exits. */
export interface Pair {
  before: ItemStates | undefined
  after: ItemStates | undefined
}

/** Items of one type that nobody can tell apart (REA-106). */
export interface Ambiguous {
  before: readonly ItemStates[]
  after: readonly ItemStates[]
}

/** Pairs items of whole documents, or of fragments that take each other's place (REA-104). */
export function pairing(
  before: readonly ItemStates[],
  after: readonly ItemStates[],
): { pairs: Pair[]; ambiguous: Ambiguous[] } {
  const pairs: Pair[] = []
  const ambiguous: Ambiguous[] = []
  const groups = new Map<string, { before: ItemStates[]; after: ItemStates[] }>()
  const groupOf = ({ type, key }: ItemStates) => {
    const name = `${type}\0${key === undefined ? '' : `k${key}`}`
    let group = groups.get(name)
    if (!group) groups.set(name, (group = { before: [], after: [] }))
    return group
  }
  for (const item of before) groupOf(item).before.push(item)
  for (const item of after) groupOf(item).after.push(item)
  for (const group of groups.values()) {
    const { length: old } = group.before
    const { length: now } = group.after
    if (old > 1 || now > 1) ambiguous.push(group)
    else pairs.push({ before: group.before[0], after: group.after[0] })
  }
  return { pairs, ambiguous }
}
