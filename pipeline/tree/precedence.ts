/**
 * Works that are under way, and which of them goes on where the heap is crowded (HTTP-183): large works side by side need the
 * memory of all of them at once and are no sooner done. So those of the oldest request go on and the others wait, but for a few
 * that take little; where there is no room even for those, the youngest of the others give back what they hold.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { HeapError, heapBeside, isHeapCrowded, isHeapTight } from './heap.ts'

/** The precedence of one work. Works of one request share that of the request, whatever they wait for in between. */
export class Precedence {
  /** When it came, by counting; for a request or, outside of any, a work. */
  readonly #place = requesterAtWork().place
  /** Whether it could go on: it waits for nothing else. */
  #isReady = false
  #isBrokenOff = false
  readonly #weight: number
  /** Whether it goes on beside earlier works where the heap is crowded. */
  #isBeside = false

  /** @param weight most bytes that it takes, if that is known: what is little waits for no large ones */
  constructor(weight = Number.POSITIVE_INFINITY) {
    this.#weight = weight
  }

  /** To be called before the first turn. */
  begin(): void {
    this.#isReady = true
    underWay.add(this)
  }

  /** To be called when the work waits for something: others go before it. */
  rest(): void {
    this.#isReady = false
    tell()
  }

  /**
   * To be called before each turn of the work.
   *
   * @returns when it may go on; undefined at once
   * @throws HeapError, later, where the heap has no room for it beside what else goes on
   */
  next(): Promise<void> | undefined {
    this.#isReady = true
    if (this.#isBrokenOff || isHeapCrowded()) return this.#waiting()
    tell()
    return undefined
  }

  /** To be called when the work has ended, whatever came of it. */
  end(): void {
    underWay.delete(this)
    if (this.#isBeside) besides -= this.#weight
    this.#isBeside = false
    tell()
  }

  /** The large ones may take minutes. All that go on beside them have little room together. */
  #goesBeside(): boolean {
    if (this.#isBeside || besides + this.#weight > heapBeside()) return this.#isBeside
    besides += this.#weight
    this.#isBeside = true
    return true
  }

  async #waiting(): Promise<void> {
    while (!this.#isBrokenOff && isOutrun(this.#place) && !this.#goesBeside()) await news()
    while (!this.#isBrokenOff && isHeapTight()) {
      const broken = this.#breakOffLater()
      if (broken.length === 0) throw new HeapError('busy')
      // One that has begun to wait for something else may wait for this one.
      while (broken.some(other => underWay.has(other) && other.#isReady)) await news()
    }
    if (this.#isBrokenOff) throw new HeapError('outrun')
  }

  /** Has half of the works of later requests give back what they hold, the youngest. @returns those of them that can at once */
  #breakOffLater(): Precedence[] {
    const later = [...underWay].filter(other => other.#place > this.#place).sort((a, b) => a.#place - b.#place)
    const broken = later.slice(Math.floor(later.length / 2))
    for (const other of broken) other.#isBrokenOff = true
    tell()
    return broken.filter(other => other.#isReady)
  }

  static isAnyBefore(place: number): boolean {
    for (const work of underWay) if (work.#isReady && work.#place < place) return true
    return false
  }
}

/** Turns that most requests are done in: of some 20 ms together. */
const FEW = 4

/** Milliseconds that a request may stand in line beside the time that its code may take. */
const LONGEST_STAND = 10_000

/** Whose works have their turns: a request or, outside of any, one work. */
export class Requester {
  /** When it came, by counting. */
  readonly place = ++places
  readonly party: string
  #turns = 0
  #stood = 0
  /** Since when one of its works stands in line that has had no turn yet. */
  #since: number | undefined

  constructor(party = '') {
    this.party = party
  }

  get hasHadFew(): boolean {
    return this.#turns < FEW
  }

  /** To be called when one of its works begins to stand in line. */
  stand(): void {
    this.#since ??= performance.now()
  }

  /** To be called when one of them has its turn. */
  leave(): void {
    this.#turns++
    this.#stood = this.#stoodUntil(performance.now())
    this.#since = undefined
  }

  /** Milliseconds on a clock that stands still while it stands in line, unless that takes too long. */
  now(): number {
    const now = performance.now()
    return now - Math.min(this.#stoodUntil(now), LONGEST_STAND)
  }

  #stoodUntil(now: number): number {
    return this.#stood + (this.#since === undefined ? 0 : now - this.#since)
  }
}

const request = new AsyncLocalStorage<Requester>()
const underWay = new Set<Precedence>()
/** Bytes that works take at most which go on beside earlier ones. */
let besides = 0
let places = 0

/**
 * Has all works that come of a request share its precedence.
 *
 * @param party whose request it is: parties have their turns one after the other, however many works one of them has
 * @returns what `run` returns
 */
export function asRequest<T>(run: () => T, party = ''): T {
  return request.run(new Requester(party), run)
}

/** Whose work is done. */
export function requesterAtWork(): Requester {
  return request.getStore() ?? new Requester()
}

/** The clock of whose work is done. */
export function clockAtWork(): () => number {
  const requester = requesterAtWork()
  return () => requester.now()
}

/** Whether works of others go first, by the place of the request that asks. */
export function isOutrun(place = request.getStore()?.place ?? Number.POSITIVE_INFINITY): boolean {
  return underWay.size > 0 && isHeapCrowded() && Precedence.isAnyBefore(place)
}

/** Waits until no works of others go first. */
export async function untilFirst(): Promise<void> {
  while (isOutrun()) await news()
}

let isAwaited = false
let coming = Promise.withResolvers<void>()

/** Settles when works have ended or rest, or are to look again. */
function news(): Promise<void> {
  isAwaited = true
  return coming.promise
}

/** What has ended hands its result over before anybody else goes on. */
function tell(): void {
  if (!isAwaited) return
  isAwaited = false
  const { resolve } = coming
  coming = Promise.withResolvers()
  setImmediate(resolve)
}
