/**
 * Fields of declarations that say nothing, where something was meant: names that are nearly those of their kind, and values
 * that nobody reads. By the letter both are the author's own (MOD-3), but a rule with `selectors` is for the whole document.
 */

import { bareProgram } from '../model/declarations.ts'
import { isItem, isTemplate, readingItem } from '../model/items.ts'
import { shown } from '../model/violations.ts'
import { isMeant, isNear } from '../near.ts'
import { wordsOf } from '../tree/ascii.ts'
import { propertyNames, typesOf } from '../tree/microdata.ts'
import { modelValue, valueAttribute } from '../tree/microdata-value.ts'
import { localName } from '../tree/namespaces.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, isElement, type ParentNode } from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { indexTree } from '../tree/tree-index.ts'
import type { NotedItem } from './derive.ts'
import type { Derivation, Subtypes } from './kind.ts'
import { FIELDS, type FieldValue, type KindOfItem, OTHER_WORDS } from './known-fields.ts'

/** Something in a declaration that says nothing. */
export interface Slip {
  /** Of the item. */
  types: readonly string[]
  /** Where, in words. */
  place: string
  field: string
  reason: string
}

/** What is found out about the fields of a document. */
export interface Slips {
  fields: readonly Slip[]
  /** Types that elements have which are no items, each once. */
  bare: readonly string[]
  /** By which items were known that declare something. */
  subtypes: Subtypes | undefined
}

/** Slips of one document that are kept. */
const MOST = 100

/** Children of one element of which those beside them are looked at. */
const MOST_PLACES = 10

/** Elements beside one that are looked at. */
const MOST_BESIDE = 1000

/** Elements without an end: what they say stands in attributes. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
/** Attributes that people write values in, beside those that are read. */
const WRITTEN = ['value', 'href', 'src', 'data', 'datetime']
/** Elements of tables: HTML takes out of them what is no cell. */
const TABLED = new Set('table thead tbody tfoot tr'.split(' '))

/** An item with what its kind has of fields. */
interface Looked {
  element: ElementNode
  types: readonly string[]
  kind: KindOfItem
  /** The type that says what it is, and which one of that type it is in its document, from 1. */
  type: string
  count: number
}

/**
 * @param items all of a document, in tree order
 * @param bare elements that have a type and are no items
 */
export function* findingSlips(
  items: readonly NotedItem[],
  bare: readonly ElementNode[],
  derivation: Derivation,
): Steps<Slips> {
  const kinds = kindsOf(derivation)
  const found: Slip[] = []
  const counted = new Map<string, number>()
  const parents = new Map<ParentNode, number>()
  let ids: ReadonlyMap<string, ElementNode> | undefined
  let seen = 0
  for (const { element: item, types, isShown } of items) {
    if (found.length >= MOST) break
    // An item may have thousands of types, and most have no fields.
    seen += types.length
    if (seen >= NODES_PER_STEP) {
      seen = 0
      yield
    }
    const type = isShown ? types.find(each => kinds.has(each)) : undefined
    const single = type === undefined ? undefined : kinds.get(type)
    if (type === undefined || !single || isTemplate(item)) continue
    const count = (counted.get(type) ?? 0) + 1
    counted.set(type, count)
    const kind = types.length === 1 ? single : united(single, types, kinds)
    const looked = { element: item, types, kind, type, count }
    let strange: Map<string, ElementNode> | undefined
    // A generator for each item would cost more than what there is to do.
    const open = [{ nodes: item.childNodes, next: 0 }]
    for (let level = open.at(-1); level; level = open.at(-1)) {
      const node = level.nodes[level.next++]
      if (!node) open.pop()
      if (!node || !isElement(node)) continue
      if (++seen >= NODES_PER_STEP) {
        seen = 0
        yield
      }
      const written = node.attrs.length === 0 ? undefined : attribute(node, 'itemprop')
      if (written !== undefined) {
        const value = kind.fields.get(written)
        if (value !== undefined) lookAt(node, written, value, looked, derivation, found)
        else
          for (const name of propertyNames(node)) {
            const known = kind.fields.get(name)
            if (known !== undefined) lookAt(node, name, known, looked, derivation, found)
            else if ((strange ??= new Map()).size < MOST) strange.set(name, node)
          }
      }
      const { childNodes } = node
      if (childNodes.length === 0 || (childNodes.length === 1 && childNodes[0] && !isElement(childNodes[0]))) continue
      if (!isItem(node) && !isTemplate(node)) open.push({ nodes: childNodes, next: 0 })
    }
    if (strange) yield* findingMeant(strange, looked, found)
    const referred = attribute(item, 'itemref')
    if (referred !== undefined && !kind.refers)
      tell(found, looked, 'itemref', 'fields that it names with itemref are not read; write them inside of it')
    else if (referred !== undefined) {
      ids ??= (yield* indexTree(item)).ids
      for (const id of new Set(wordsOf(referred)))
        if (!ids.has(id)) tell(found, looked, 'itemref', `its itemref names ${shown(id)}, which is no element's id`)
    }
    findTakenOut(looked, parents, found)
  }
  const unscoped = new Set<string>()
  for (const element of bare) {
    if (unscoped.size >= MOST) break
    for (const type of typesOf(element)) if (unscoped.size < MOST) unscoped.add(type)
    yield
  }
  // Cut from the document as they are, they would keep the whole of it in memory.
  const own: Pick<Slips, 'fields' | 'bare'> = JSON.parse(JSON.stringify({ fields: found, bare: [...unscoped] }))
  return { ...own, subtypes: derivation.subtypes }
}

/** @param strange names that are none of its fields, with an element of each */
function* findingMeant(strange: ReadonlyMap<string, ElementNode>, looked: Looked, found: Slip[]): Steps<void> {
  const { properties } = yield* readingItem(looked.element)
  for (const [name, element] of strange) {
    const meant = meantBy(name, looked.kind, field => properties.has(field), isItem(element))
    if (meant !== undefined) tell(found, looked, name, `the field ${shown(name)} says nothing; did you mean ${meant}?`)
  }
}

/** An item of several types has the fields of all of them. */
function united(kind: KindOfItem, types: readonly string[], kinds: ReadonlyMap<string, KindOfItem>): KindOfItem {
  const fields = new Map(kind.fields)
  for (const type of types)
    for (const [name, value] of kinds.get(type)?.fields ?? []) if (!fields.has(name)) fields.set(name, value)
  return { ...kind, fields }
}

const known = new WeakMap<Derivation, ReadonlyMap<string, KindOfItem>>()

/** Item types whose fields are known: those of the server, and those that schemas derive from them. */
function kindsOf(derivation: Derivation): ReadonlyMap<string, KindOfItem> {
  const before = known.get(derivation)
  if (before) return before
  const { ns, schemaHost, subtypes } = derivation
  const kinds = new Map<string, KindOfItem>()
  for (const [name, kind] of FIELDS) {
    const type = name === 'Enum' ? `${schemaHost}/Enum` : `${ns}/${name}`
    for (const each of [type, ...(subtypes?.get(type) ?? [])]) kinds.set(each, kind)
  }
  known.set(derivation, kinds)
  return kinds
}

/** Looks at the value of a known field. */
function lookAt(
  element: ElementNode,
  name: string,
  value: FieldValue,
  looked: Looked,
  derivation: Derivation,
  found: Slip[],
): void {
  const reason = value === 'any' ? undefined : wrongValue(element, value, looked, derivation)
  if (reason !== undefined) tell(found, looked, name, `the field ${shown(name)} ${reason}`)
}

function tell(found: Slip[], { types, type, count }: Looked, field: string, reason: string): void {
  if (found.length < MOST) found.push({ types, place: `item ${count} of the type ${shown(type)}`, field, reason })
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/**
 * The field that a name was probably to be.
 *
 * @param isPresent whether a field is there: no other words are taken for it, unless a `holdsItem` is one of several
 */
function meantBy(
  name: string,
  { fields, words }: KindOfItem,
  isPresent: (field: string) => boolean,
  holdsItem: boolean,
): string | undefined {
  const bare = plain(name)
  for (const each of fields.keys()) if (plain(each) === bare || `${plain(each)}es` === bare) return each
  for (const each of fields.keys()) {
    const short = plain(each)
    // Of short names, what begins otherwise is near by chance.
    if (isMeant(bare, short) || (short.length > 3 && short[0] === bare[0] && isNear(bare, short))) return each
  }
  const word = OTHER_WORDS.get(words)?.get(bare)
  const value = word === undefined ? undefined : fields.get(word)
  if (word === undefined || value === undefined) return undefined
  return (value === 'item' && holdsItem) || !isPresent(word) ? word : undefined
}

/** What is wrong with the value of a known field; undefined where it can be read. */
function wrongValue(element: ElementNode, value: FieldValue, looked: Looked, { ns }: Derivation): string | undefined {
  if (value === 'item')
    return isItem(element) ? undefined : 'is no item, so that it says nothing: its element needs itemscope and a type'
  if (value === 'code')
    return isItem(element) || bareProgram(element) !== undefined
      ? undefined
      : 'is no code, so that nothing runs: write an item of a language, or a script of the type text/sessel'
  if (value === 'default')
    return htmlName(element) === 'script' && !isItem(element) && bareProgram(element) === undefined
      ? 'is a script of another type than text/sessel, so that its text is the value'
      : undefined
  if (isItem(element)) return 'is an item and no text, so that it says nothing'
  if (isUnread(element, looked.kind.refers)) return 'has no value: write it in content, or as text'
  if (value !== 'flag') return undefined
  const text = modelValue(ns)(element, { types: [...looked.types] })
  return text === '' || text === 'true' || text === 'false' ? undefined : `is ${shown(text)}, and counts only as true`
}

/** Whether an element has a value where none is read. */
function isUnread(element: ElementNode, isAccess: boolean): boolean {
  if (element.childNodes.length > 0 || attribute(element, 'content') !== undefined) return false
  const name = htmlName(element)
  const read = isAccess ? (name === 'data' ? 'value' : undefined) : valueAttribute(element)
  if (read !== undefined && attribute(element, read) !== undefined) return false
  return VOID.has(name) || WRITTEN.some(each => attribute(element, each) !== undefined)
}

function htmlName({ namespaceURI, tagName }: ElementNode): string {
  return namespaceURI === HTML_NAMESPACE ? localName(tagName) : ''
}

/** Fields that HTML has taken out of their item: out of a table, in front of it; out of a paragraph, behind it. */
function findTakenOut(looked: Looked, parents: Map<ParentNode, number>, found: Slip[]): void {
  const name = htmlName(looked.element)
  const isTabled = TABLED.has(name)
  if (!isTabled && name !== 'p') return
  let element: ParentNode | null = looked.element
  while (isTabled && element && isElement(element) && htmlName(element) !== 'table') element = element.parentNode
  const parent = element && isElement(element) && !parents.has(element) ? element.parentNode : null
  if (!element || !isElement(element) || !parent || isInItem(parent)) return
  const times = parents.get(parent) ?? 0
  if (times >= MOST_PLACES) return
  parents.set(element, 1).set(parent, times + 1)
  const siblings = parent.childNodes
  const step = isTabled ? -1 : 1
  const from = siblings.indexOf(element)
  for (let i = from + step; i >= 0 && Math.abs(i - from) <= MOST_BESIDE; i += step) {
    const node = siblings[i]
    if (!node) return
    if (!isElement(node)) continue
    const names = isItem(node) ? [] : propertyNames(node)
    if (names.length === 0) return
    for (const each of names) if (looked.kind.fields.has(each)) tell(found, looked, each, takenOut(each, isTabled))
  }
}

function takenOut(name: string, isTabled: boolean): string {
  return isTabled
    ? `the field ${shown(name)} stands in front of its table: rows hold cells alone`
    : `the field ${shown(name)} stands behind its paragraph, which HTML ends there: write a div`
}

function isInItem(node: ParentNode): boolean {
  for (let each: ParentNode | null = node; each && isElement(each); each = each.parentNode)
    if (isItem(each)) return true
  return false
}
