/** Where ids, classes and names occur in a document, for documents that are asked often between two changes. */
import { attribute, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../../tree/nodes.ts'
import { asciiLower, localName } from './name.ts'
import type { ComplexSelector, Compound } from './syntax.ts'

/** Elements have numbers in document order; every list holds numbers in ascending order. */
interface DocumentIndex {
  elements: ElementNode[]
  /** For each element the number behind its last descendant. */
  ends: number[]
  ids: Map<string, number[]>
  classes: Map<string, number[]>
  names: Map<string, number[]>
  fold: (name: string) => string
}

interface Entry {
  index?: DocumentIndex
  /** Searches since the last change. */
  searches: number
}

/** An index is built at this search after a change: before, it costs more than it saves. */
const WORTHWHILE = 3

const entries = new WeakMap<TreeDocument, Entry>()

/**
 * Lets searches of this document use an index. Whoever calls this has to call `touch` after every change of the tree;
 * on other documents searches always read the tree as it is.
 */
export function allowIndex(document: TreeDocument): void {
  if (!entries.has(document)) entries.set(document, { searches: 0 })
}

/** Drops what is known about a document, because its tree has changed. */
export function touch(document: TreeDocument): void {
  if (entries.has(document)) entries.set(document, { searches: 0 })
}

/**
 * The elements that a selector list can match at all, in document order.
 *
 * @returns the elements, or undefined when there is no index or it cannot tell them from the others
 */
export function candidates(list: readonly ComplexSelector[], document: TreeDocument): ElementNode[] | undefined {
  const entry = entries.get(document)
  const [selector, ...others] = list
  if (!entry || !selector || others.length > 0) return undefined
  if (++entry.searches < WORTHWHILE && !entry.index) return undefined
  const index = (entry.index ??= build(document))
  const { first, end } = extent(selector, index)
  const subject = selector.compounds.at(-1)
  let fewest: number[] | undefined
  for (const compound of selector.compounds) {
    for (const list of occurrences(compound, index, document)) {
      if (list.length === 0) return []
      if (compound === subject && (!fewest || list.length < fewest.length)) fewest = list
    }
  }
  if (!fewest) return index.elements.slice(first, end)
  const found: ElementNode[] = []
  for (let at = position(fewest, first); at < fewest.length; at++) {
    const number = fewest[at] ?? end
    const element = number < end ? index.elements[number] : undefined
    if (!element) break
    found.push(element)
  }
  return found
}

/** Index of the first number that is at least `least`. */
function position(numbers: number[], least: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? least) < least) low = middle + 1
    else high = middle
  }
  return low
}

/** For each id, class and name that a compound asks for, where it occurs. */
function occurrences({ simples }: Compound, index: DocumentIndex, document: TreeDocument): number[][] {
  const found: number[][] = []
  for (const simple of simples) {
    if (simple.kind === 'id') found.push(index.ids.get(index.fold(simple.name)) ?? [])
    if (simple.kind === 'class') found.push(index.classes.get(index.fold(simple.name)) ?? [])
    if (simple.kind === 'type') {
      const lower = document.kind === 'html' ? asciiLower(simple.name) : simple.name
      const list = index.names.get(lower) ?? []
      // Foreign elements keep their case: then either spelling may be meant.
      if (lower === simple.name || !index.names.has(simple.name)) found.push(list)
    }
  }
  return found
}

/** The numbers from which and up to which the subject can be: below the last id that has one owner. */
function extent({ compounds, combinators }: ComplexSelector, index: DocumentIndex): { first: number; end: number } {
  for (let at = compounds.length - 2; at >= 0; at--) {
    if (combinators[at] !== ' ' && combinators[at] !== '>') break
    for (const simple of compounds[at]?.simples ?? []) {
      if (simple.kind !== 'id') continue
      const [owner, ...others] = index.ids.get(index.fold(simple.name)) ?? []
      if (owner !== undefined && others.length === 0) return { first: owner + 1, end: index.ends[owner] ?? 0 }
    }
  }
  return { first: 0, end: index.elements.length }
}

function build(document: TreeDocument): DocumentIndex {
  const fold = document.kind === 'html' && document.root.mode === 'quirks' ? asciiLower : (name: string) => name
  const index: DocumentIndex = { elements: [], ends: [], ids: new Map(), classes: new Map(), names: new Map(), fold }
  const visit = (parent: ParentNode) => {
    for (const element of parent.childNodes) {
      if (!isElement(element)) continue
      const number = index.elements.push(element) - 1
      add(index.names, localName(element, document.kind), number)
      const id = attribute(element, 'id')
      if (id !== undefined) add(index.ids, fold(id), number)
      const classes = attribute(element, 'class')
      if (classes) for (const token of new Set(fold(classes).split(/[ \t\n\f\r]+/))) add(index.classes, token, number)
      visit(element)
      index.ends[number] = index.elements.length
    }
  }
  visit(document.root)
  return index
}

function add(map: Map<string, number[]>, key: string, number: number): void {
  const numbers = map.get(key)
  if (numbers) numbers.push(number)
  else map.set(key, [number])
}
