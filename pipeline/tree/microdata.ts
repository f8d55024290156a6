/**
 * Microdata items of a tree (HTML standard, "Microdata"; HTTP-71). How the text of a property is read differs between
 * the readers of items and is an argument.
 */

import { type Declared, declaredNames } from './declared.ts'
import { LONGEST_NAMES, tooLarge } from './limits.ts'
import { microdataValue, type ValueReader } from './microdata-value.ts'
import { attribute, type ElementNode, isElement, type ParentNode, parentElement } from './nodes.ts'
import { atOnce, lookingThrough, NODES_PER_STEP, type Steps } from './steps.ts'
import { indexTree, type TreeIndex, visiting } from './tree-index.ts'

export interface Item {
  element: ElementNode
  /** Tokens of `itemtype`, each once. */
  types: string[]
  /** `itemid` as written, without outer white space. */
  id?: string
  /** In tree order; an element with several names gives several properties in the order of the names. */
  properties: Property[]
}

export interface Property {
  name: string
  element: ElementNode
  /** An item that is met twice is one object; `itemref` can make an item a part of itself. */
  value: string | Item
}

const SPACE = /[\t\n\f\r ]/

/** Elements that may be reached again and again through `itemref`, beside a share for each reference written. */
const REFERRED = 100_000
const REFERRED_PER_TOKEN = 16

/** UTF-16 code units of all values together; nested properties repeat each other's text. */
const VALUE_TEXT = 32 * 1024 * 1024

/**
 * Items with `itemscope` and no `itemprop`, in tree order. Contents of templates hold none.
 *
 * @param root document, or element to look in (itself included)
 * @param read how values are read; by default as JSON-LD does without configuration items
 * @throws TreeError (`too-large`) when references multiply beyond all proportion to the text
 */
export function topLevelItems(root: ParentNode, read: ValueReader = microdataValue): Item[] {
  return atOnce(readingTopLevelItems(root, read))
}

/** `topLevelItems` in steps. */
export function* readingTopLevelItems(root: ParentNode, read: ValueReader, schemas?: Declared): Steps<Item[]> {
  return yield* readingItems(
    itemReader(() => indexTree(root), read, { schemas }),
    yield* topLevelScopes(root),
  )
}

/**
 * The items of chosen elements (HTTP-70): an element with `itemscope` gives its own item, another one the top-level items
 * inside it. Each item is given once.
 *
 * @param nodes elements of one document, in any order
 * @throws TreeError as `topLevelItems`
 */
export function itemsWithin(nodes: ElementNode | ElementNode[], read: ValueReader = microdataValue): Item[] {
  return atOnce(readingItemsWithin(nodes, read))
}

/**
 * `itemsWithin` in steps.
 *
 * @param mayRefer whether `itemref` leads to an element outside of the chosen ones (SEC-7)
 * @param on whom to tell of each such element that one leads to, and what items have as it stands in them (MOD-11)
 */
export function* readingItemsWithin(
  nodes: ElementNode | ElementNode[],
  read: ValueReader,
  mayRefer: (element: ElementNode) => boolean = () => true,
  { leads, schemas }: Omit<Told, 'counted'> = {},
): Steps<Item[]> {
  const list = Array.isArray(nodes) ? nodes : [nodes]
  const [first] = list
  if (!first) return []
  const scopes = new Set<ElementNode>()
  // An element inside one that was looked through adds nothing new.
  const seen = new Set<ElementNode>()
  let looked = 0
  for (const node of list) {
    if (isScope(node)) scopes.add(node)
    else for (const scope of yield* topLevelScopes(node, seen)) scopes.add(scope)
    if (++looked % NODES_PER_STEP === 0) yield
  }
  const chosen = new Set(list)
  const open = new Map<ElementNode, boolean>()
  const isOpen = (element: ElementNode): boolean => {
    const known = open.get(element) ?? (mayRefer(element) || isInside(element, chosen))
    open.set(element, known)
    return known
  }
  const inOrder = list.length === 1 ? [...scopes] : yield* inTreeOrder([...scopes], yield* indexTree(first))
  const outside = leads && ((target: ElementNode) => !isInside(target, chosen) && leads(target))
  return yield* readingItems(
    itemReader(() => indexTree(first, isOpen), read, { leads: outside, schemas }),
    inOrder,
  )
}

/**
 * Every item of a tree, nested ones too, in tree order: configuration is found wherever it stands (RULE-1, MOD-2); in steps.
 *
 * @param wanted chooses items by their types before anything else of them is read
 * @throws TreeError as `topLevelItems`
 */
export function* readingAllItems(
  root: ParentNode,
  read: ValueReader,
  wanted: (types: string[]) => boolean,
): Steps<Item[]> {
  return yield* readingItems(
    itemReader(() => indexTree(root), read),
    yield* scopesOf(root, wanted),
  )
}

/** What readers of single items know of where `itemref` leads. */
export interface Referring {
  /** Whether it leads to other elements (SEC-7); asked where there is one. */
  refers?(): boolean
  /** The index of the tree, which may be known from another item of it (SEC-12). */
  index?(): Steps<TreeIndex>
  /** Told how many elements were looked at. */
  looked?(elements: number): void
  /** What an item has as it stands in it, wherever `itemref` leads (MOD-11). */
  schemas?: Declared | undefined
}

/**
 * The properties of one item, in steps; nested items are not read.
 *
 * @param element has `itemscope`
 * @throws TreeError as `topLevelItems`
 */
export function* readingProperties(element: ElementNode, read: ValueReader, on: Referring = {}): Steps<Property[]> {
  const mayRefer = attribute(element, 'itemref') !== undefined && (on.refers?.() ?? true)
  const counted = { elements: 0 }
  const indexing = mayRefer ? () => on.index?.() ?? indexTree(element) : undefined
  const { itemOf, fill } = itemReader(indexing, read, { counted, schemas: on.schemas })
  const item = itemOf(element)
  yield* fill(item)
  on.looked?.(counted.elements)
  return item.properties
}

function* scopesOf(root: ParentNode, wanted: (types: string[]) => boolean): Steps<ElementNode[]> {
  const all: ElementNode[] = []
  yield* visiting(root, element => {
    if (isScope(element)) all.push(element)
    return true
  })
  const scopes: ElementNode[] = []
  yield* lookingThrough(all, element => {
    const types = typesOf(element)
    if (wanted(types)) scopes.push(element)
    return types.length
  })
  return scopes
}

/** Tokens of `itemtype`, each once, in order. */
export function typesOf(element: ElementNode): string[] {
  return tokens(attribute(element, 'itemtype'))
}

/** Tokens of `itemprop`, each once, in order. */
export function propertyNames(element: ElementNode): string[] {
  return tokens(attribute(element, 'itemprop'))
}

function isScope(element: ElementNode): boolean {
  return attribute(element, 'itemscope') !== undefined
}

/** Tokens of an attribute; none where it is longer than documents may have it. */
function tokens(value: string | undefined): string[] {
  if (!value || value.length > LONGEST_NAMES) return []
  if (!SPACE.test(value)) return [value]
  return [...new Set(value.split(/[\t\n\f\r ]+/))].filter(token => token !== '')
}

function* topLevelScopes(root: ParentNode, seen?: Set<ElementNode>): Steps<ElementNode[]> {
  const scopes: ElementNode[] = []
  yield* visiting(root, element => {
    if (seen?.has(element)) return false
    seen?.add(element)
    if (isScope(element) && attribute(element, 'itemprop') === undefined) scopes.push(element)
    return true
  })
  return scopes
}

/** Elements that are sorted in one step. */
const SORTED_AT_ONCE = 1000

function* inTreeOrder(elements: ElementNode[], { order }: TreeIndex): Steps<ElementNode[]> {
  if (elements.length <= SORTED_AT_ONCE) return elements.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
  const wanted = new Set<ElementNode>()
  let seen = 0
  for (const element of elements) {
    if (++seen % NODES_PER_STEP === 0) yield
    wanted.add(element)
  }
  const sorted: ElementNode[] = []
  for (const element of order.keys()) {
    if (++seen % NODES_PER_STEP === 0) yield
    if (wanted.has(element)) sorted.push(element)
  }
  return sorted
}

/** Items that are filled in one step. */
const ITEMS_PER_STEP = 50

interface ItemReader {
  itemOf(element: ElementNode): Item
  /** Items whose properties have not been looked for. */
  unread: Item[]
  fill(item: Item): Steps<void>
}

/** What is told of how items are read. No more than is needed: V8 places what generators within a function reach among what lives long. */
interface Told {
  /** How many elements were looked at. */
  counted?: { elements: number }
  /** Told of each element that an `itemref` leads to. */
  leads?: ((target: ElementNode) => unknown) | undefined
  /** What items have as it stands in them. */
  schemas?: Declared | undefined
}

/**
 * @param indexing makes the index that `itemref` goes by, when it is needed first; without it, none leads anywhere
 */
function itemReader(
  indexing: (() => Steps<TreeIndex>) | undefined,
  read: ValueReader,
  { counted = { elements: 0 }, leads, schemas }: Told = {},
): ItemReader {
  const items = new Map<ElementNode, Item>()
  const unread: Item[] = []
  let index: TreeIndex | undefined
  let referred = REFERRED
  let text = VALUE_TEXT
  let looked = 0

  const itemOf = (element: ElementNode): Item => {
    let item = items.get(element)
    if (!item) {
      const id = attribute(element, 'itemid')?.trim()
      item = { element, types: typesOf(element), ...(id ? { id } : {}), properties: [] }
      items.set(element, item)
      unread.push(item)
    }
    return item
  }

  /** @param beside is given those that stand elsewhere */
  function* propertyElements(scope: ElementNode, beside: Set<ElementNode>): Steps<ElementNode[]> {
    const found: ElementNode[] = []
    const references = indexing ? tokens(attribute(scope, 'itemref')) : []
    if (!indexing || references.length === 0) {
      let seen = 0
      yield* visiting(scope, element => {
        if (element === scope) return true
        seen++
        return collect(element, found)
      })
      counted.elements += seen
      return found
    }
    index ??= yield* indexing()
    referred += references.length * REFERRED_PER_TOKEN
    const visited = new Set([scope])
    const visit = (element: ElementNode): boolean => {
      if (visited.has(element)) return false
      visited.add(element)
      if (--referred < 0) throw tooLarge()
      return collect(element, found)
    }
    yield* visiting(scope, element => element === scope || visit(element))
    const visitBeside = (element: ElementNode): boolean => {
      const known = found.length
      const isEntered = visit(element)
      if (found.length > known) beside.add(element)
      return isEntered
    }
    for (const reference of references) {
      const target = index.ids.get(reference)
      if (target) {
        leads?.(target)
        yield* visiting(target, visitBeside)
      }
      if (++looked % NODES_PER_STEP === 0) yield
    }
    // What is to be sorted in several steps is looked for in the whole tree.
    counted.elements += visited.size + (found.length > SORTED_AT_ONCE ? index.order.size : 0)
    return yield* inTreeOrder(found, index)
  }

  function* fill(item: Item): Steps<void> {
    const beside = new Set<ElementNode>()
    const elements = yield* propertyElements(item.element, beside)
    const declared = schemas && beside.size > 0 ? yield* declaredNames(item.types, schemas) : undefined
    yield* lookingThrough(elements, element => {
      const value = isScope(element) ? itemOf(element) : read(element, item)
      const names = propertyNames(element)
      for (const name of names) {
        if (declared?.has(name) && beside.has(element)) continue
        if (typeof value === 'string' && (text -= value.length) < 0) throw tooLarge()
        item.properties.push({ name, element, value })
      }
      // Values in each other hold the same nodes once more each.
      return element.childNodes.some(isElement) ? NODES_PER_STEP : names.length
    })
  }

  return { itemOf, unread, fill }
}

function* readingItems({ itemOf, unread, fill }: ItemReader, scopes: readonly ElementNode[]): Steps<Item[]> {
  const result: Item[] = []
  yield* lookingThrough(scopes, scope => {
    const item = itemOf(scope)
    result.push(item)
    return item.types.length
  })
  let filled = 0
  for (let item = unread.pop(); item; item = unread.pop()) {
    if (++filled % ITEMS_PER_STEP === 0) yield
    yield* fill(item)
  }
  return result
}

function isInside(element: ElementNode, chosen: ReadonlySet<ElementNode>): boolean {
  for (let at: ElementNode | undefined = element; at; at = parentElement(at)) if (chosen.has(at)) return true
  return false
}

/** Notes a property element; nested items keep their own descendants. */
function collect(element: ElementNode, found: ElementNode[]): boolean {
  if (attribute(element, 'itemprop')) found.push(element)
  return !isScope(element)
}
