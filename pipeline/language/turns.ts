/** Turns of several parties at work that is done one piece after another: each has the next one in turn, however much another one asks. */

import { AllowanceSpent } from './allowance.ts'

/** Pieces of one party's work that may wait. */
const MOST_WAITING = 100

export class Turns {
  readonly #most: number
  /** What each party waits for, in the order in which they have their turns. */
  readonly #waiting = new Map<object | string, (() => void)[]>()
  #free = true

  constructor(most = MOST_WAITING) {
    this.#most = most
  }

  /**
   * Does a piece of work when it is its party's turn.
   *
   * @param look throws where nobody waits for it any more
   * @returns what comes of it; rejects with AllowanceSpent where too much of the party waits already, and as `look` throws
   */
  async take<T>(party: object | string, work: () => Promise<T>, look: () => void = () => undefined): Promise<T> {
    if (this.#free) this.#free = false
    else await this.#turnOf(party)
    try {
      // Done in vain, it would hold up all that wait behind it.
      look()
      return await work()
    } finally {
      this.#next()
    }
  }

  #turnOf(party: object | string): Promise<void> {
    const waiting = this.#waiting.get(party) ?? []
    if (waiting.length >= this.#most) throw new AllowanceSpent('turns')
    this.#waiting.set(party, waiting)
    return new Promise(resolve => waiting.push(resolve))
  }

  #next(): void {
    for (const [party, waiting] of this.#waiting) {
      const first = waiting.shift()
      this.#waiting.delete(party)
      if (waiting.length > 0) this.#waiting.set(party, waiting)
      if (!first) continue
      first()
      return
    }
    this.#free = true
  }
}
