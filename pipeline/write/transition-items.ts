/** Items as transitions see them: which one each is, and the states of the properties that are watched (REA-100 to REA-105). */

import { DocumentValues, isItem, type ModelItem, readingItem, tagPlace } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import type { PlacedConstraint, PlacedHandler } from '../react/declared/reactions.ts'
import { trimmed } from '../tree/ascii.ts'
import type { Edit, PlannedSplice } from '../tree/edit/edit.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { askingIn, type Selector, SelectorError } from '../tree/selector/selector.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'

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
  /** Values of the properties that it has and somebody watches, exactly as they are. */
  values: ReadonlyMap<string, readonly string[]>
  /** Constraints that select it, by property: those of each selector, which all items share that it selects. */
  watchers: ReadonlyMap<string, readonly Watchers[]>
  /** Those of them of which nobody can tell whether they do. */
  unsure: ReadonlySet<Watchers>
}

/** Constraints of one selector for one property. */
export type Watchers = readonly PlacedConstraint[]

/** Items in an order that somebody else knows; undefined for those that no page shows. */
export type ShownStates = readonly (ItemStates | undefined)[]

/** Items that an edit can change, as they are before it. */
export interface EditStates {
  around: readonly ItemStates[]
  taken: readonly ItemStates[]
}

/** The same, as composition reads the document as well where that is another tree. */
export interface EditStake extends EditStates {
  shown?: EditStates & { tree: TreeDocument; wanted: Edit }
}

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
    /** By the selectors that select an item: those of one type share one map. */
    const together = new Map<string, ReadonlyMap<string, readonly Watchers[]>>()
    const watchersOf = function* (selecting: readonly number[]): Steps<ReadonlyMap<string, readonly Watchers[]>> {
      const name = selecting.join()
      let watchers = together.get(name)
      if (!watchers) together.set(name, (watchers = yield* puttingTogether(selecting.map(i => matchers[i]?.lists))))
      return watchers
    }
    const doubts = new Map<string, ReadonlySet<Watchers>>()
    const doubtsOf = (doubtful: readonly number[]): ReadonlySet<Watchers> => {
      const name = doubtful.join()
      let unsure = doubts.get(name)
      if (!unsure) doubts.set(name, (unsure = new Set(doubtful.flatMap(i => [...(matchers[i]?.lists.values() ?? [])]))))
      return unsure
    }
    const found: ItemStates[] = []
    for (const element of elements) {
      if (!isItem(element)) continue
      if (found.length % ITEMS_PER_STEP === 0) yield
      const item = yield* readingItem(element)
      const values = new Map<string, string[]>()
      // By what the item has: of what is watched it may lack nearly all.
      for (const name of item.properties.keys())
        if (properties.has(name)) values.set(name, yield* readingTexts(read, item, name))
      const selecting: number[] = []
      const doubtful: number[] = []
      for (const [i, { asking }] of matchers.entries()) {
        if (i % SELECTORS_PER_STEP === SELECTORS_PER_STEP - 1) yield
        const answer = yield* askingWhether(asking(element))
        if (answer === false) continue
        selecting.push(i)
        if (answer === 'unsure') doubtful.push(i)
      }
      const watchers = yield* watchersOf(selecting)
      const unsure = doubtsOf(doubtful)
      const [type = ''] = item.types
      const keyed = item.types.map(each => registry.schema(each)?.key?.name).find(name => name !== undefined)
      const [key] = keyed === undefined ? [] : yield* readingTexts(read, item, keyed)
      found.push({ element, type, types: item.types, key: key || undefined, values, watchers, unsure })
    }
    return found
  }
}

function* puttingTogether(
  groups: readonly (ReadonlyMap<string, Watchers> | undefined)[],
): Steps<Map<string, Watchers[]>> {
  const watchers = new Map<string, Watchers[]>()
  for (const lists of groups) {
    yield
    for (const [property, list] of lists ?? []) {
      const known = watchers.get(property)
      if (known) known.push(list)
      else watchers.set(property, [list])
    }
  }
  return watchers
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
  const groups = new Map<string, { selector: Selector; lists: Map<string, PlacedConstraint[]> }>()
  for (const placed of constraints) {
    const { selector, constraint } = placed
    let group = groups.get(selector.text)
    if (!group) groups.set(selector.text, (group = { selector, lists: new Map() }))
    const { lists } = group
    const list = lists.get(constraint.property)
    if (list) list.push(placed)
    else lists.set(constraint.property, [placed])
  }
  return [...groups.values()]
}

/**
 * What takes too long to tell is unsure, and so is what is no selector here, as where a function of it finds several elements
 * (COMP-139): content must neither switch a constraint off, nor switch on what another one permits.
 */
function* askingWhether(isSelected: Steps<boolean>): Steps<boolean | 'unsure'> {
  try {
    return yield* isSelected
  } catch (error) {
    if (error instanceof SelectorError) return 'unsure'
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

/** Constraints that watch a property of an item: true for those that are known to select it, in one of its trees at least. */
export type Rules = ReadonlyMap<Watchers, boolean>

export function rulesOf(pair: Pair, property: string): Rules {
  const rules = new Map<Watchers, boolean>()
  for (const item of [pair.before, pair.after])
    for (const list of item?.watchers.get(property) ?? [])
      rules.set(list, rules.get(list) === true || !item?.unsure.has(list))
  return rules
}

/** What those permit that are known to select the item; where there are none, what all others permit, whichever do. */
export function arePermitting(rules: Rules, from: string | undefined, to: string | undefined): boolean {
  const permit = (list: Watchers) => list.some(rule => permits(rule, from, to))
  const known = [...rules.keys()].filter(list => rules.get(list))
  return known.length > 0 ? known.some(permit) : [...rules.keys()].every(permit)
}

function permits(
  { constraint: { from, to } }: PlacedConstraint,
  old: string | undefined,
  now: string | undefined,
): boolean {
  if (old === undefined) return from.length === 0 && now !== undefined && to.includes(now)
  if (now === undefined) return to.length === 0 && from.includes(old)
  return from.includes(old) && to.includes(now)
}

/** Items whose tags an edit leaves as they are, before and after it, and what is left over on each side. */
export function* staying(
  before: readonly ItemStates[],
  after: readonly ItemStates[],
  changes: readonly PlannedSplice[],
): Steps<{ pairs: Pair[]; taken: ItemStates[]; brought: ItemStates[] }> {
  const known = new Map<string, ItemStates[]>()
  for (const [i, item] of before.entries()) {
    if (i % NODES_PER_STEP === 0) yield
    const start = item.element.sourceCodeLocation?.startOffset
    const now = start === undefined ? undefined : placeAfter(start, changes)
    if (start !== undefined && now === undefined) continue
    const place = `${now ?? ''} ${item.element.tagName}`
    const list = known.get(place)
    if (list) list.push(item)
    else known.set(place, [item])
  }
  const pairs: Pair[] = []
  const brought: ItemStates[] = []
  const passed = new Map<string, number>()
  for (const [i, item] of after.entries()) {
    if (i % NODES_PER_STEP === 0) yield
    const place = tagPlace(item.element)
    const at = passed.get(place) ?? 0
    passed.set(place, at + 1)
    const same = known.get(place)?.[at]
    if (same) pairs.push({ before: same, after: item })
    else brought.push(item)
  }
  const stay = new Set(pairs.map(pair => pair.before))
  return { pairs, taken: before.filter(item => !stay.has(item)), brought }
}

/** Where what begins at a place begins behind changes; undefined where it is changed itself. */
function placeAfter(start: number, changes: readonly PlannedSplice[]): number | undefined {
  let moved = start
  for (const change of changes) {
    if (start < change.start) break
    if (start < change.end) return undefined
    moved += change.text.length - (change.end - change.start)
  }
  return moved
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

// A string that does not end goes to the end of the text, as in selectors.
const PIECES = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)|[^,"']+|,/g
const ITEMTYPE = /^\[[\t\n\f\r ]*itemtype[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)')[\t\n\f\r ]*\]$/
const ISA = /^:isa\([\t\n\f\r ]*(?:"([^"]*)"|'([^']*)')[\t\n\f\r ]*\)$/i

/** Types that the branches of a handler's selector name; other branches never fire (REA-121). */
export function typesNamed(selector: string): { type: string; isa: boolean }[] {
  const branches = ['']
  for (const [piece] of selector.matchAll(PIECES)) {
    if (piece === ',') branches.push('')
    else branches[branches.length - 1] += piece
  }
  return branches.flatMap(branch => {
    const text = trimmed(branch)
    const plain = ITEMTYPE.exec(text)
    const derived = plain ? null : ISA.exec(text)
    const type = plain?.[1] ?? plain?.[2] ?? derived?.[1] ?? derived?.[2]
    return type === undefined ? [] : [{ type, isa: derived !== null }]
  })
}
