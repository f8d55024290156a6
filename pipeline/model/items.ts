/** Items as data models see them: their own property elements, in tree order, without `itemref` (MOD-11, MOD-21). */

import { tooLarge } from '../tree/limits.ts'
import { isShort, LONG } from '../tree/long-text.ts'
import { propertyNames, typesOf } from '../tree/microdata.ts'
import { modelValue, readingModelValue, type ValueReader } from '../tree/microdata-value.ts'
import { localName } from '../tree/namespaces.ts'
import {
  attribute,
  type ChildNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from '../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** An item with the elements of each of its properties. */
export interface ModelItem {
  element: ElementNode
  /** Tokens of `itemtype`, each once. */
  types: string[]
  /** Value elements by name, in tree order. An element counts for each of its names. */
  properties: Map<string, ElementNode[]>
}

/** Elements of all trees of one text come from the same tags. */
export function tagPlace({ tagName, sourceCodeLocation }: ElementNode): string {
  return `${sourceCodeLocation?.startOffset ?? ''} ${tagName}`
}

export function isItem(element: ElementNode): boolean {
  return attribute(element, 'itemscope') !== undefined
}

/** Whether what is inside an element is kept out of the document: contents of templates hold no items (MOD-2, MOD-11). */
export function isTemplate(element: ElementNode): boolean {
  return element.namespaceURI === HTML_NAMESPACE && localName(element.tagName) === 'template'
}

/**
 * Elements among nodes and below them that are wanted, in tree order.
 *
 * @param isEntered whether those inside of an element count; contents of templates hold none that do, unless it says so
 */
export function* findingElements(
  nodes: readonly ChildNode[],
  isWanted: (element: ElementNode) => boolean,
  isEntered = (element: ElementNode) => !isTemplate(element),
): Steps<ElementNode[]> {
  const found: ElementNode[] = []
  const open = [{ nodes, next: 0 }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    if (isWanted(node)) found.push(node)
    if (node.childNodes.length > 0 && isEntered(node)) open.push({ nodes: node.childNodes, next: 0 })
  }
  return found
}

/** Every element with `itemscope` below a node, in tree order; contents of templates left out. */
export function itemElements(root: ParentNode): ElementNode[] {
  return atOnce(findingItems(root))
}

/** `itemElements` in steps. */
export function findingItems(root: ParentNode): Steps<ElementNode[]> {
  return findingElements(root.childNodes, isItem)
}

export function readItem(element: ElementNode): ModelItem {
  return atOnce(readingItem(element))
}

/** `readItem` in steps. */
export function* readingItem(element: ElementNode): Steps<ModelItem> {
  const properties = new Map<string, ElementNode[]>()
  // A generator of its own for each item would cost V8 a map in its old space, which keeps the tree as long.
  const open = isTemplate(element) ? [] : [{ nodes: element.childNodes, next: 0 }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    if (++seen >= NODES_PER_STEP) {
      seen = 0
      yield
    }
    if (attribute(node, 'itemprop')) {
      for (const name of propertyNames(node)) {
        // It may have thousands.
        seen++
        const elements = properties.get(name)
        if (elements) elements.push(node)
        else properties.set(name, [node])
      }
    }
    const { childNodes } = node
    const first = childNodes[0]
    // Most elements hold one text or nothing.
    if (!first || (childNodes.length === 1 && !isElement(first)) || isItem(node) || isTemplate(node)) continue
    open.push({ nodes: childNodes, next: 0 })
  }
  return { element, types: typesOf(element), properties }
}

/** UTF-16 code units of all values that are read of one document: properties inside properties repeat each other's text. */
const VALUE_TEXT = 32 * 1024 * 1024

/** The text of a property's element (MOD-22); undefined for a nested item. */
export type ReadValue = (element: ElementNode, item: ModelItem) => string | undefined

/**
 * @param ns base URI of the site's vocabulary
 * @returns a reader for one document, which keeps what it has read
 */
export function valueReader(ns: string): ReadValue {
  const values = new DocumentValues(ns)
  return (element, item) => values.read(element, item)
}

/** Reads one document and keeps together what it has read: at once, and in steps where a value is long. */
export class DocumentValues {
  readonly #ns: string
  readonly #readNow: ValueReader
  readonly #known = new Map<ElementNode, string>()
  #left = VALUE_TEXT
  /** UTF-16 code units of short values since the last pause. */
  #unpaused = 0

  /** @param ns base URI of the site's vocabulary */
  constructor(ns: string) {
    this.#ns = ns
    this.#readNow = modelValue(ns)
  }

  /** @throws TreeError (`too-large`) when values repeat each other beyond all proportion to the text */
  read(element: ElementNode, item: ModelItem): string | undefined {
    if (isItem(element)) return undefined
    return this.#known.get(element) ?? this.#keep(element, this.#readNow(element, item))
  }

  /** `read` in steps. */
  *reading(element: ElementNode, item: ModelItem): Steps<string | undefined> {
    if (isItem(element) || this.#known.has(element)) return this.read(element, item)
    if (isShort(element)) {
      if (this.#isTimeToPause(element)) yield
      return this.read(element, item)
    }
    return this.#keep(element, yield* readingModelValue(element, item, this.#ns))
  }

  /** Of short ones in each other each is read with all that is in it. */
  #isTimeToPause({ sourceCodeLocation: place }: ElementNode): boolean {
    this.#unpaused += place ? place.endOffset - place.startOffset : 0
    if (this.#unpaused < LONG) return false
    this.#unpaused = 0
    return true
  }

  #keep(element: ElementNode, value: string): string {
    if ((this.#left -= value.length) < 0) throw tooLarge()
    this.#known.set(element, value)
    return value
  }
}
