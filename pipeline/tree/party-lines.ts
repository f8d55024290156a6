/**
 * What waits in line, a line for each party whose requests it comes of: the lines go forward in turns, however long one is.
 * In each, the oldest request goes first: of many alike the first are done long before the last, and few are half done at any
 * time. But none waits for all of a long one: every other turn is for those that have had few.
 */

import { type Requester, requesterAtWork } from './precedence.ts'

export class PartyLines<Item> {
  /** The line whose turn is next comes first. */
  readonly #lines = new Map<string, Line<Item>>()

  /** The next one. */
  get first(): Item | undefined {
    for (const line of this.#lines.values()) return line.next?.first?.item
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
  /** By how many turns their requests have had. */
  readonly #levels: Level<Item>[] = []
  #added = 0
  #isOldestNext = true

  /** Where the next one stands. */
  get next(): Level<Item> | undefined {
    let next: Level<Item> | undefined
    for (const level of this.#levels) {
      if (!level.first || (next?.first && next.first.requester.place < level.first.requester.place)) continue
      next = level
      if (!this.#isOldestNext) break
    }
    return next
  }

  add(item: Item, requester: Requester): void {
    while (this.#levels.length <= requester.level) this.#levels.push(new Level())
    this.#levels[requester.level]?.add({ item, requester, number: ++this.#added })
  }

  take(): Standing<Item> | undefined {
    const first = this.next?.take()
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

/** What stands in line by the age of its request, as a binary heap: lines may be long. */
class Level<Item> {
  readonly #standing: Standing<Item>[] = []

  get first(): Standing<Item> | undefined {
    return this.#standing[0]
  }

  add(standing: Standing<Item>): void {
    let at = this.#standing.push(standing) - 1
    while (at > 0 && this.#order((at - 1) >> 1, at)) at = (at - 1) >> 1
  }

  take(): Standing<Item> | undefined {
    const [first] = this.#standing
    const last = this.#standing.pop()
    if (!last || last === first) return first
    this.#standing[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const below = this.#isBefore(left + 1, left) ? left + 1 : left
      if (!this.#order(at, below)) return first
      at = below
    }
  }

  /** Puts the two in order. @returns whether they were not */
  #order(above: number, below: number): boolean {
    const [upper, lower] = [this.#standing[above], this.#standing[below]]
    if (!upper || !lower || !this.#isBefore(below, above)) return false
    this.#standing[above] = lower
    this.#standing[below] = upper
    return true
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#standing[one], this.#standing[other]]
    if (!a || !b) return false
    return (a.requester.place - b.requester.place || a.number - b.number) < 0
  }
}
