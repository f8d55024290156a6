/**
 * What a document holds, as the site's index knows it: its items by type, id and the values of their properties. It does
 * not depend on schemas, so that a schema that comes later finds what is there already.
 */

import { hash } from 'node:crypto'
import { digestingText } from '../http/digest.ts'
import type { Entry } from '../store/resource.ts'
import { cloning } from '../tree/clone.ts'
import { parsingDocument } from '../tree/document.ts'
import { tooLarge } from '../tree/limits.ts'
import { attribute, type ChildNode, type ElementNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { revisionOf } from '../tree/revisions.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import { DocumentValues, findingItems, readingItem, tagPlace } from './items.ts'

/** Values up to this length stand in the index as they are; of longer ones a digest. UTF-16 code units. */
const LONGEST_VALUE = 200

/** Key of all items of a type. */
export function typeKey(type: string): string {
  return `type\0${type}`
}

/** Key of the items with an `itemid`. */
export function idKey(id: string): string {
  return `id\0${id}`
}

/** Key of the items of a type that have a value of a property, which must not be empty. */
export function valueKey(type: string, property: string, value: string): string {
  return keyWith(type, property, value.length <= LONGEST_VALUE ? `=${value}` : `#${hash('sha256', value)}`)
}

function keyWith(type: string, property: string, text: string): string {
  return `value\0${type}\0${property}\0${text}`
}

/** An item's entry as it is when it is alone with what it says. */
interface Known {
  ns: string
  entry: Entry
}

/**
 * Where an item has its entry as long as its content has not changed, so that a write to a large document reads only what it
 * touched. Whoever changes a tree in place names what lies around the change. A weak map would be grown, and looked through
 * by the collector, in turns that take as long as there are items.
 */
const KNOWN = Symbol('entry')

interface Noted extends ElementNode {
  [KNOWN]?: Known | undefined
}

/** Who copies an element with its properties does not copy this one: the copy may become another item. */
function keep(element: Noted, value: Known | undefined): void {
  Object.defineProperty(element, KNOWN, { value, configurable: true, writable: true })
}

function knownOf(element: Noted): Known | undefined {
  return element[KNOWN]
}

/** Has the entries of items made anew: their content has changed. */
export function forgetEntries(items: Iterable<ElementNode>): void {
  for (const element of items) if (knownOf(element)) keep(element, undefined)
}

/**
 * Makes, in steps, a copy of a document whose entries are as well known as those of the original. Whoever changes the copy
 * names what lies around the change.
 *
 * @param copied is told of every node and its copy
 */
export function copyingWithEntries(
  document: TreeDocument,
  copied?: (node: ChildNode, copy: ChildNode) => void,
): Steps<TreeDocument> {
  return cloning(document, (node, copy) => {
    copied?.(node, copy)
    if (!isElement(node) || !isElement(copy)) return
    const known = knownOf(node)
    if (known) keep(copy, known)
  })
}

/**
 * @param items elements with `itemscope`, in tree order
 * @param changed elements whose content may be other than when the entries of the document were last asked for, although
 *   the elements are the same; missing when nothing is known
 * @throws TreeError (`too-large`) when values repeat each other beyond all proportion to the text
 */
export function entriesOf(items: readonly ElementNode[], ns: string, changed?: ReadonlySet<ElementNode>): Entry[] {
  return atOnce(listingEntries(items, ns, changed))
}

/** Items whose entries are made in one step. */
const ITEMS_PER_STEP = 50

/** `entriesOf` in steps. */
export function listingEntries(
  items: readonly ElementNode[],
  ns: string,
  changed?: ReadonlySet<ElementNode>,
): Steps<Entry[]> {
  return listing(items, [], ns, changed)
}

/**
 * Entries, in steps, of a document that composition reads otherwise (COMP-6): an item that both have is one, with the keys
 * of both.
 *
 * @param document may show a proposed edit: elements do not stand where its text has them then
 * @param shown the same text as composition reads it
 */
export function* listingBoth(document: TreeDocument, shown: TreeDocument, ns: string): Steps<Entry[]> {
  const { kind, source } = document
  const tree = revisionOf(document) === undefined ? yield* parsingDocument(kind, source) : document
  return yield* listing(yield* findingItems(tree.root), yield* findingItems(shown.root), ns)
}

function* listing(
  items: readonly ElementNode[],
  shown: readonly ElementNode[],
  ns: string,
  changed?: ReadonlySet<ElementNode>,
): Steps<Entry[]> {
  const values = new DocumentValues(ns)
  const beyond = { left: MOST_BEYOND }
  const entries: Entry[] = []
  const seen = new Map<string, number>()
  const add = (entry: Entry) => {
    if (entry.keys.length === 0) return
    const count = (seen.get(entry.item) ?? 0) + 1
    seen.set(entry.item, count)
    entries.push(count === 1 ? entry : { item: `${entry.item}.${count}`, keys: entry.keys })
  }
  const others = yield* keysByPlace(shown, ns, beyond)
  for (const [i, element] of items.entries()) {
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield
    const entry = yield* entryOf(element, ns, values, changed, beyond)
    const further = others.size > 0 ? others.get(tagPlace(element))?.next().value : undefined
    add(further ? yield* withKeys(entry, further) : entry)
  }
  let added = 0
  for (const left of others.values())
    for (const keys of left) {
      if (++added % ITEMS_PER_STEP === 0) yield
      add(yield* entryWith(keys))
    }
  return entries
}

/** Keys of items by the tag that each comes from: of one tag the standard may make several elements. */
function* keysByPlace(
  items: readonly ElementNode[],
  ns: string,
  beyond: Beyond,
): Steps<Map<string, IterableIterator<string[], undefined>>> {
  const values = new DocumentValues(ns)
  const found = new Map<string, string[][]>()
  for (const [i, element] of items.entries()) {
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield
    const keys = yield* keysOf(element, values, beyond)
    const place = tagPlace(element)
    const list = found.get(place)
    if (list) list.push(keys)
    else found.set(place, [keys])
  }
  return new Map(found.entries().map(([place, list]) => [place, list.values()]))
}

function* withKeys(entry: Entry, further: readonly string[]): Steps<Entry> {
  const keys = new Set([...entry.keys, ...further])
  return keys.size === entry.keys.length ? entry : yield* entryWith([...keys])
}

/** Named by what it says, an item keeps its name when others come and go around it. */
function* entryWith(keys: readonly string[]): Steps<Entry> {
  return { item: yield* fingerprint(keys), keys }
}

function* entryOf(
  element: ElementNode,
  ns: string,
  values: DocumentValues,
  changed: ReadonlySet<ElementNode> | undefined,
  beyond: Beyond,
): Steps<Entry> {
  const isKept = changed !== undefined && !changed.has(element)
  const before = isKept ? knownOf(element) : undefined
  if (before?.ns === ns) return before.entry
  const entry = yield* entryWith(yield* keysOf(element, values, beyond))
  // A change that is only proposed may not come about.
  if (changed?.has(element)) forgetEntries([element])
  else keep(element, { ns, entry })
  return entry
}

/** Keys that are made in one step. */
const KEYS_PER_STEP = 1000

/** Each value of an item is found under each of its types: types of one item up to which that is in proportion to the text. */
const FEW_TYPES = 8

/** Values under further types that one document may have. */
const MOST_BEYOND = 200_000

/** How many of these are left. */
interface Beyond {
  left: number
}

/** @throws TreeError (`too-large`) for types and values that multiply beyond all proportion to the text */
function* keysOf(element: ElementNode, read: DocumentValues, beyond: Beyond): Steps<string[]> {
  const item = yield* readingItem(element)
  const { types, properties } = item
  const keys = new Set<string>()
  let made = 0
  const id = attribute(element, 'itemid')?.trim()
  if (id) keys.add(idKey(id))
  for (const type of types) keys.add(typeKey(type))
  if (types.length > 0) {
    for (const [name, elements] of properties) {
      const values = new Set<string>()
      for (const each of elements) {
        const value = yield* read.reading(each, item)
        if (value) values.add(value)
        if (++made % KEYS_PER_STEP === 0) yield
      }
      beyond.left -= values.size * Math.max(0, types.length - FEW_TYPES)
      if (beyond.left < 0) throw tooLarge()
      for (const value of values) {
        const text = value.length <= LONGEST_VALUE ? `=${value}` : `#${yield* digestingText(value)}`
        for (const type of types) {
          keys.add(keyWith(type, name, text))
          if (++made % KEYS_PER_STEP === 0) yield
        }
      }
    }
  }
  return [...keys]
}

/** 64 bits of two FNV-like sums: only tells items of one document apart, and equal names get numbers. */
function* fingerprint(keys: readonly string[]): Steps<string> {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  let read = 0
  for (const key of keys) {
    if (++read % KEYS_PER_STEP === 0) yield
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b ^ code, 0x85ebca6b)
    }
    a = Math.imul(a ^ 0xffff, 0x01000193)
    b = Math.imul(b ^ 0x1ffff, 0x85ebca6b)
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}
