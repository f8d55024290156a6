/**
 * Works that are under way, and which of them goes on where the heap is crowded (HTTP-183): large works side by side need the
 * memory of all of them at once and are no sooner done. So those of the oldest request go on and the others wait; where there
 * is no room even for those, the youngest of the others give back what they hold.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { HeapError, isHeapCrowded, isHeapTight } from './heap.ts'

/** The precedence of one work. Works of one request share that of the request, whatever they wait for in between. */
export class Precedence {
  /** When it came, by counting; for a request or, outside of any, a work. */
  readonly #place: number
  /** Whether it could go on: it waits for nothing else. */
  #isReady = false
  #isBrokenOff = false

  constructor() {
    this.#place = request.getStore()?.place ?? ++places
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
    tell()
  }

  async #waiting(): Promise<void> {
    while (!this.#isBrokenOff && isOutrun(this.#place)) await news()
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

const request = new AsyncLocalStorage<{ place: number; party: string }>()
const underWay = new Set<Precedence>()
let places = 0

/**
 * Has all works that come of a request share its precedence.
 *
 * @param party whose request it is: parties have their turns one after the other, however many works one of them has
 * @returns what `run` returns
 */
export function asRequest<T>(run: () => T, party = ''): T {
  return request.run({ place: ++places, party }, run)
}

/** Whose request is worked on. */
export function partyAtWork(): string {
  return request.getStore()?.party ?? ''
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
