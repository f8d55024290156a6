/** State of one evaluation of a selector on a document: the work done so far, and what is worth remembering of it. */
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { atOnce, type Steps } from '../steps.ts'
import { SelectorError } from './error.ts'
import type { ExtensionContext } from './extension.ts'
import { localName } from './name.ts'

/**
 * Work in elementary steps of about 25 ns, such as one compound selector tried on one element. Below `free`, results are
 * found again rather than remembered, which is faster for nearly every selector there is. From there on every
 * intermediate result is kept, which makes the rest linear in selector × document. A query ends at `all` steps (some
 * 30 ms), or at 1.25 for each character of a larger document, up to `most`. (Tests set `free` to 0.)
 */
export const STEPS = { free: 60_000, all: 1_250_000, most: 5_000_000 }

/** The element children of one parent, with their places among all and among those of the same type. */
export interface Family {
  parent: ParentNode
  elements: ElementNode[]
  places: Pick<ReadonlyMap<ElementNode, number>, 'get'>
  types?: { places: Map<ElementNode, number>; sizes: Map<string, number> }
}

/** A search through a family: `next` is the number of elements that are known to fail. */
export interface Search {
  next: number
  found: boolean
}

/**
 * 1-based places of elements in a list. They are mostly asked about in the order of the list, which takes no more than
 * going on from the last one; a map of a million would take longer to make than most searches.
 */
class Places {
  readonly #elements: readonly ElementNode[]
  #latest = 0
  #numbers: Map<ElementNode, number> | undefined

  constructor(elements: readonly ElementNode[]) {
    this.#elements = elements
  }

  get(element: ElementNode): number | undefined {
    if (this.#numbers) return this.#numbers.get(element)
    const elements = this.#elements
    for (let at = this.#latest; at < elements.length; at++) {
      if (elements[at] !== element) continue
      this.#latest = at
      return at + 1
    }
    this.#numbers = new Map()
    for (const [at, each] of elements.entries()) this.#numbers.set(each, at + 1)
    return this.#numbers.get(element)
  }
}

/** Leaves a test that needs something first. It is made again afterwards: nothing that a query keeps is half done. */
export class Unprepared extends Error {
  /** Makes what was needed. */
  readonly work: Steps<void>

  constructor(work: Steps<void>) {
    super('a selector needs something that takes long to make')
    this.work = work
  }
}

export class Query implements ExtensionContext {
  readonly document: TreeDocument
  /** What `:scope` stands for. */
  readonly scope: ElementNode | undefined
  steps = 0
  /** Whether tests may be left (`Unprepared`). */
  isInSteps = false
  #limit = STEPS.free
  #numbers: Map<ElementNode, number> | undefined
  #rows: Uint8Array[] | undefined
  #families: Map<ParentNode, Family> | undefined
  #latest: Family | undefined
  #searches: Map<ParentNode, Search>[] | undefined
  #extras: Map<symbol | ElementNode, unknown> | undefined
  readonly #outer: Query | undefined

  /** @param outer the query that this one is a part of: it pays for it */
  constructor(document: TreeDocument, scope: ElementNode | undefined, outer?: Query) {
    this.document = document
    this.scope = scope
    this.#outer = outer
  }

  /** The same query with another `:scope`. */
  within(scope: ElementNode): Query {
    return new Query(this.document, scope, this)
  }

  spend(units: number): void {
    this.#outer?.spend(units)
    this.steps += units
    if (this.steps > this.#limit) this.#overrun()
  }

  #overrun(): void {
    if (!this.#numbers) {
      this.#numbers = new Map()
      this.#limit = Math.min(Math.max(STEPS.all, 1.25 * this.document.source.length), STEPS.most)
    }
    if (this.steps > this.#limit) throw new SelectorError('the selector is too costly on this document', 'cost')
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
    const kept = number === undefined ? 0 : (this.#rows?.[slot]?.[number] ?? 0)
    return kept === 0 ? undefined : kept === 2
  }

  keep(slot: number, element: ElementNode, result: boolean): void {
    if (!this.#numbers) return
    let number = this.#numbers.get(element)
    if (number === undefined) this.#numbers.set(element, (number = this.#numbers.size))
    const rows = (this.#rows ??= [])
    let row = rows[slot]
    if (!row || number >= row.length) {
      const longer = new Uint8Array(Math.max(4096, 2 * number))
      if (row) longer.set(row)
      rows[slot] = row = longer
    }
    row[number] = result ? 2 : 1
  }

  /** The family below a parent; computed once in a query. */
  family(parent: ParentNode): Family {
    if (this.#outer) return this.#outer.family(parent)
    if (this.#latest?.parent === parent) return this.#latest
    const families = (this.#families ??= new Map())
    let family = families.get(parent)
    if (!family) {
      const elements = parent.childNodes.filter(isElement)
      this.spend(4 + (parent.childNodes.length >> 2))
      families.set(parent, (family = { parent, elements, places: new Places(elements) }))
    }
    this.#latest = family
    return family
  }

  /** How far a search among siblings has come; one for each slot and parent. */
  search(slot: number, parent: ParentNode): Search {
    const slots = (this.#searches ??= [])
    const searches = (slots[slot] ??= new Map())
    let search = searches.get(parent)
    if (!search) {
      this.spend(4)
      searches.set(parent, (search = { next: 0, found: false }))
    }
    return search
  }

  /** 1-based place among the siblings of the same type, and how many there are. */
  placeOfType(family: Family, element: ElementNode): { place: number; size: number } {
    if (!family.types) {
      this.spend(family.elements.length >> 1)
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
    const extras = (this.#extras ??= new Map())
    if (!extras.has(key)) extras.set(key, make())
    return extras.get(key) as T
  }

  shared<T>(key: symbol, make: () => T): T {
    return this.#outer ? this.#outer.shared(key, make) : this.once(key, make)
  }

  prepared<T>(key: symbol | ElementNode, make: () => Steps<T>): T {
    if (this.#outer) return this.#outer.prepared(key, make)
    const extras = (this.#extras ??= new Map())
    if (extras.has(key)) return extras.get(key) as T
    const making = function* () {
      const made = yield* make()
      extras.set(key, made)
      return made
    }
    if (!this.isInSteps) return atOnce(making())
    throw new Unprepared(
      (function* () {
        yield* making()
      })(),
    )
  }
}
