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
 * 30 ms); one that can be left, at 1.25 for each character of a larger document, up to `most`. (Tests set `free` to 0.)
 */
export const STEPS = { free: 60_000, all: 1_250_000, most: 5_000_000 }

/** The element children of one parent, with their places among all and among those of the same type. */
export interface Family {
  parent: ParentNode
  elements: ElementNode[]
  /** Index of the last element that was asked about: they are mostly asked about in the order of the list. */
  latest: number
  /** 1-based places, where going on from the last one does not find them; of a million they take long to number. */
  numbers?: Map<ElementNode, number>
  types?: { places: Map<ElementNode, number>; sizes: Map<string, number> }
}

/** A search through a family: `next` is the number of elements that are known to fail. */
export interface Search {
  next: number
  found: boolean
}

/** Nodes or characters that are worked through in one go. */
const SHORT_WORK = 5_000

/**
 * Units of work of a query after which it is left: between two elements (a quarter of a millisecond), and within a test,
 * whose way to where it was costs something. Turns of loops that it takes at least between two pauses.
 */
const PAUSE = { between: 10_000, within: 30_000, turns: 64 }

/**
 * Leaves a test that needs something first, or has taken long. It is made again afterwards: nothing that a query keeps is
 * half done, and loops go on where they were.
 */
export class Unprepared extends Error {
  /** Makes what was needed. */
  readonly work: Steps<unknown>

  constructor(work: Steps<unknown>) {
    super('a selector needs something that takes long to make')
    this.work = work
  }
}

/** What a test needs that was left, in steps; then it can be made again. @throws any other error */
export function* preparing(error: unknown): Steps<void> {
  if (!(error instanceof Unprepared)) throw error
  yield* error.work
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
  #left: Map<ElementNode, unknown>[] | undefined
  #extras: Map<symbol | ElementNode, unknown> | undefined
  /** Units at the last pause. */
  #paused = 0
  #turns = 0
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

  /**
   * For loops that have kept what their last turn has found: a test in steps that has taken long is left here.
   *
   * @throws Unprepared
   */
  mayPause(): void {
    if (this.remembers) this.#top.#pauseIfLong()
  }

  #pauseIfLong(): void {
    if (!this.isInSteps || ++this.#turns < PAUSE.turns || this.steps - this.#paused < PAUSE.within) return
    throw new Unprepared(pausing())
  }

  /** Whether it has worked for so long that others should have a turn. Counts from here again if so. */
  isLong(): boolean {
    if (this.steps - this.#paused < PAUSE.between) return false
    this.goesOn()
    return true
  }

  /** Counts the work from here on. */
  goesOn(): void {
    this.#outer?.goesOn()
    this.#paused = this.steps
    this.#turns = 0
  }

  get #top(): Query {
    let top: Query = this
    while (top.#outer) top = top.#outer
    return top
  }

  #overrun(): void {
    if (!this.#numbers) {
      this.#numbers = new Map()
      const most = this.#top.isInSteps ? STEPS.most : STEPS.all
      this.#limit = Math.min(Math.max(STEPS.all, 1.25 * this.document.source.length), most)
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

  /** The family below a parent; computed once in a query. @throws Unprepared */
  family(parent: ParentNode): Family {
    if (this.#outer) return this.#outer.family(parent)
    if (this.#latest?.parent === parent) return this.#latest
    this.#families ??= new Map()
    let family = this.#families.get(parent)
    if (!family && parent.childNodes.length > SHORT_WORK) {
      this.make(this.#listing(parent, this.#families), parent.childNodes.length)
      family = this.#families.get(parent)
    }
    if (!family) {
      this.spend(4 + (parent.childNodes.length >> 2))
      family = { parent, elements: parent.childNodes.filter(isElement), latest: 0 }
      this.#families.set(parent, family)
    }
    this.#latest = family
    return family
  }

  make(work: Steps<void>, length: number): void {
    if (length > SHORT_WORK && this.#top.isInSteps) throw new Unprepared(work)
    atOnce(work)
  }

  *#listing(parent: ParentNode, families: Map<ParentNode, Family>): Steps<void> {
    const { childNodes } = parent
    this.spend(4 + (childNodes.length >> 2))
    const elements: ElementNode[] = []
    for (const [at, node] of childNodes.entries()) {
      if (isElement(node)) elements.push(node)
      if (at % SHORT_WORK === SHORT_WORK - 1) yield
    }
    families.set(parent, { parent, elements, latest: 0 })
  }

  /** 1-based place of an element among its siblings; undefined where it is none of them. @throws Unprepared */
  placeIn(family: Family, element: ElementNode): number | undefined {
    const { elements, numbers, latest } = family
    if (numbers) return numbers.get(element)
    const at = elements.indexOf(element, latest)
    if (at >= 0) {
      family.latest = at
      return at + 1
    }
    this.make(numbering(family), elements.length)
    return family.numbers?.get(element)
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

  /** 1-based place among the siblings of the same type, and how many there are. @throws Unprepared */
  placeOfType(family: Family, element: ElementNode): { place: number; size: number } {
    if (!family.types) this.make(this.#typing(family), family.elements.length)
    return {
      place: family.types?.places.get(element) ?? 0,
      size: family.types?.sizes.get(this.#typeKey(element)) ?? 0,
    }
  }

  *#typing(family: Family): Steps<void> {
    this.spend(family.elements.length >> 1)
    const sizes = new Map<string, number>()
    const places = new Map<ElementNode, number>()
    for (const [at, sibling] of family.elements.entries()) {
      const key = this.#typeKey(sibling)
      const place = (sizes.get(key) ?? 0) + 1
      sizes.set(key, place)
      places.set(sibling, place)
      if (at % SHORT_WORK === SHORT_WORK - 1) yield
    }
    family.types = { places, sizes }
  }

  /** Notes where work on an element is, for the next time that it is begun; one for each slot and element. */
  leave<T>(slot: number, element: ElementNode, place: T): void {
    const slots = (this.#left ??= [])
    const places = (slots[slot] ??= new Map())
    places.set(element, place)
  }

  isLeft(slot: number, element: ElementNode): boolean {
    return this.#left?.[slot]?.has(element) ?? false
  }

  /** Where work on an element has been left, once. */
  leftAt<T>(slot: number, element: ElementNode): T | undefined {
    const places = this.#left?.[slot]
    if (!places || places.size === 0) return undefined
    const place = places.get(element)
    places.delete(element)
    return place as T | undefined
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
    const making = filling(extras, key, make)
    if (!this.isInSteps) return atOnce(making)
    throw new Unprepared(making)
  }
}

function* pausing(): Steps<void> {
  yield
}

function* numbering(family: Family): Steps<void> {
  const numbers = new Map<ElementNode, number>()
  for (const [at, element] of family.elements.entries()) {
    numbers.set(element, at + 1)
    if (at % SHORT_WORK === SHORT_WORK - 1) yield
  }
  family.numbers = numbers
}

function* filling<T>(extras: Map<unknown, unknown>, key: unknown, make: () => Steps<T>): Steps<T> {
  const made = yield* make()
  extras.set(key, made)
  return made
}
