/**
 * What waits in line, a line for each party whose requests it comes of: the lines go forward in turns, however long one is.
 * In each, the oldest request goes first: of many alike the first are done long before the last, and few are half done at any
 * time. But none waits for all of a long one: every other turn is for those that have had few.
 */

import TinyQueue from 'tinyqueue'
import { type Requester, requesterAtWork } from './precedence.ts'

export class PartyLines<Item> {
  /** The line whose turn is next comes first. */
  readonly #lines = new Map<string, Line<Item>>()

  /** The next one. */
  get first(): Item | undefined {
    for (const line of this.#lines.values()) return line.next?.peek()?.item
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

/** The line of one party. */
class Line<Item> {
  /** By how many turns their requests have had; in each by the age of the request. Lines may be long. */
  readonly #levels: TinyQueue<Standing<Item>>[] = []
  #added = 0
  #isOldestNext = true

  /** Where the next one stands. */
  get next(): TinyQueue<Standing<Item>> | undefined {
    let next: TinyQueue<Standing<Item>> | undefined
    let oldest = Number.POSITIVE_INFINITY
    for (const level of this.#levels) {
      const { place = Number.POSITIVE_INFINITY } = level.peek()?.requester ?? {}
      if (place >= oldest) continue
      next = level
      oldest = place
      if (!this.#isOldestNext) break
    }
    return next
  }

  add(item: Item, requester: Requester): void {
    while (this.#levels.length <= requester.level) this.#levels.push(new TinyQueue<Standing<Item>>([], olderFirst))
    this.#levels[requester.level]?.push({ item, requester, number: ++this.#added })
  }

  take(): Standing<Item> | undefined {
    const first = this.next?.pop()
    this.#isOldestNext = !this.#isOldestNext
    return first
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
