/** When something has changed last, by key: of many the newest changes are remembered. */

import { OrderedMap } from '../ordered-map.ts'

/** Keys that are remembered; behind them everything counts as changed. */
const MOST_KEYS = 10_000
/** Characters of a key that is remembered: visitors write some of them. */
const LONGEST_KEY = 512

export class ChangeLog {
  readonly #changed = new OrderedMap<string, number>()
  /** Changes before this one are forgotten. */
  #floor: number

  /** @param floor number of the newest change that nobody has noted here */
  constructor(floor: number) {
    this.#floor = floor
  }

  /** @param at number of the change, none below those before */
  note(key: string, at: number): void {
    if (key.length > LONGEST_KEY) this.#floor = at
    else this.#changed.set(key, at)
    for (const [oldest, forgotten] of this.#changed) {
      if (this.#changed.size <= MOST_KEYS) break
      this.#changed.delete(oldest)
      this.#floor = Math.max(this.#floor, forgotten)
    }
  }

  /** Whether what a key names has changed behind a change; true also where nobody remembers. */
  hasChanged(key: string, since: number): boolean {
    return since < this.#floor || (this.#changed.get(key) ?? 0) > since
  }
}
