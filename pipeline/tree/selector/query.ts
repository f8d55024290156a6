/** State of one evaluation of a selector on a document: the work done so far, and what is worth remembering of it. */
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../../tree/nodes.ts'
import { SelectorError } from './error.ts'
import type { ExtensionContext } from './extension.ts'
import { localName } from './name.ts'

/**
 * Work in elementary steps, each about one compound selector tried on one element. Below `free`, results are found
 * again rather than remembered, which is faster for nearly every selector there is. From there on every intermediate
 * result is kept, which makes the rest linear in selector × document. At `all` the query ends: some 40 ms.
 */
export const STEPS = { free: 60_000, all: 1_000_000 }

/** The element children of one parent, with their places among all and among those of the same type. */
export interface Family {
  elements: ElementNode[]
  places: Map<ElementNode, number>
  types?: { places: Map<ElementNode, number>; sizes: Map<string, number> }
}

export class Query implements ExtensionContext {
  readonly document: TreeDocument
  /** What `:scope` stands for. */
  readonly scope: ElementNode | undefined
  steps = 0
  #limit = STEPS.free
  #numbers: Map<ElementNode, number> | undefined
  #rows: Uint8Array[] = []
  #families = new Map<ParentNode, Family>()
  #extras = new Map<symbol, unknown>()

  constructor(document: TreeDocument, scope: ElementNode | undefined) {
    this.document = document
    this.scope = scope
  }

  spend(units: number): void {
    this.steps += units
    if (this.steps > this.#limit) this.#overrun()
  }

  #overrun(): void {
    if (this.#numbers) throw new SelectorError('the selector is too costly on this document', 'cost')
    this.#numbers = new Map()
    this.#limit = STEPS.all
  }

  /** Whether results are kept now. */
  get remembers(): boolean {
    return this.#numbers !== undefined
  }

  /**
   * @param slot which part of the selector
   * @returns what was kept for this element, if anything
   */
  recall(slot: number, element: ElementNode): boolean | undefined {
    const number = this.#numbers?.get(element)
    const kept = number === undefined ? 0 : (this.#rows[slot]?.[number] ?? 0)
    return kept === 0 ? undefined : kept === 2
  }

  keep(slot: number, element: ElementNode, result: boolean): void {
    if (!this.#numbers) return
    let number = this.#numbers.get(element)
    if (number === undefined) this.#numbers.set(element, (number = this.#numbers.size))
    let row = this.#rows[slot]
    if (!row || number >= row.length) {
      const longer = new Uint8Array(Math.max(4096, 2 * number))
      if (row) longer.set(row)
      this.#rows[slot] = row = longer
    }
    row[number] = result ? 2 : 1
  }

  /** The family below a parent; computed once in a query. */
  family(parent: ParentNode): Family {
    let family = this.#families.get(parent)
    if (!family) {
      const elements = parent.childNodes.filter(isElement)
      this.spend(parent.childNodes.length >> 3)
      family = { elements, places: new Map(elements.map((element, place) => [element, place + 1])) }
      this.#families.set(parent, family)
    }
    return family
  }

  /** 1-based place among the siblings of the same type, and how many there are. */
  placeOfType(family: Family, element: ElementNode): { place: number; size: number } {
    if (!family.types) {
      const sizes = new Map<string, number>()
      const places = new Map<ElementNode, number>()
      for (const sibling of family.elements) {
        const key = this.#typeKey(sibling)
        const place = (sizes.get(key) ?? 0) + 1
        sizes.set(key, place)
        places.set(sibling, place)
      }
      family.types = { places, sizes }
    }
    return {
      place: family.types.places.get(element) ?? 0,
      size: family.types.sizes.get(this.#typeKey(element)) ?? 0,
    }
  }

  #typeKey(element: ElementNode): string {
    return `${localName(element, this.document.kind)} ${element.namespaceURI}`
  }

  /** Something computed at most once in a query. */
  once<T>(key: symbol, make: () => T): T {
    if (!this.#extras.has(key)) this.#extras.set(key, make())
    return this.#extras.get(key) as T
  }
}
