/**
 * What waits in line, a line for each party whose requests it comes of: the lines go forward in turns, however long one is.
 * In each, one turn of three is for the oldest request: of many alike the first are done long before the last, and few are half
 * done at any time. One is for those that have had few, and one for whichever of the others stands longest: none waits for all
 * of many long ones.
 */

import TinyQueue from 'tinyqueue'
import { type Requester, requesterAtWork } from './precedence.ts'

export class PartyLines<Item> {
  /** The line whose turn is next comes first. */
  readonly #lines = new Map<string, Line<Item>>()

  /** The next one. */
  get first(): Item | undefined {
    for (const line of this.#lines.values()) return line.next?.item
    return undefined
  }

  /** Adds one to the line of whoever's request is worked on. */
  add(item: Item): void {
    const requester = requesterAtWork()
    requester.stand()
    const line = this.#lines.get(requester.party) ?? new Line()
    this.#lines.set(requester.party, line)
    line.add(item, requester)
  }

  /** Takes the next one. */
  take(): Item | undefined {
    for (const [party, line] of this.#lines) {
      this.#lines.delete(party)
      const first = line.take()
      // Behind all others, if it has more.
      if (line.next) this.#lines.set(party, line)
      first?.requester.leave()
      return first?.item
    }
    return undefined
  }
}

/** So many entries of what has left a line are let be. */
const LEFT = 64

/** The line of one party. It may be long. */
class Line<Item> {
  /** Those whose requests have had few turns, by age. */
  readonly #few = new TinyQueue<Standing<Item>>([], olderFirst)
  /** The others, as they have come. */
  readonly #many = new Set<Standing<Item>>()
  /** They by age, and some that have left the line. */
  #manyByAge = new TinyQueue<Standing<Item>>([], olderFirst)
  #added = 0
  #taken = 0

  get next(): Standing<Item> | undefined {
    const few = this.#few.peek()
    if (this.#many.size === 0) return few
    const [longest] = this.#many
    switch (this.#taken % 3) {
      case 0:
        return this.#older(few, this.#oldest())
      case 1:
        return few ?? longest
    }
    return longest
  }

  add(item: Item, requester: Requester): void {
    const standing = { item, requester, number: ++this.#added }
    if (requester.hasHadFew) this.#few.push(standing)
    else {
      this.#many.add(standing)
      this.#manyByAge.push(standing)
      if (this.#manyByAge.length > 2 * this.#many.size + LEFT)
        this.#manyByAge = new TinyQueue([...this.#many], olderFirst)
    }
  }

  take(): Standing<Item> | undefined {
    const { next } = this
    this.#taken++
    if (next && !this.#many.delete(next)) this.#few.pop()
    return next
  }

  #oldest(): Standing<Item> | undefined {
    for (let oldest = this.#manyByAge.peek(); oldest; oldest = this.#manyByAge.peek()) {
      if (this.#many.has(oldest)) return oldest
      this.#manyByAge.pop()
    }
    return undefined
  }

  #older(a: Standing<Item> | undefined, b: Standing<Item> | undefined): Standing<Item> | undefined {
    return a && b ? (olderFirst(a, b) < 0 ? a : b) : (a ?? b)
  }
}

interface Standing<Item> {
  readonly item: Item
  readonly requester: Requester
  /** By counting what has come into the line. */
  readonly number: number
}

function olderFirst(a: Standing<unknown>, b: Standing<unknown>): number {
  return a.requester.place - b.requester.place || a.number - b.number
}
