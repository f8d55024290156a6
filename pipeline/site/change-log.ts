/**
 * When something has changed last, by key: of many the newest changes are remembered, and of those of many sites those of the
 * sites that changed last (SEC-12).
 */

import { getHeapStatistics } from 'node:v8'
import { KeptShare, KeptTogether } from '../kept-together.ts'
import { OrderedMap } from '../ordered-map.ts'

/** Keys that are remembered; behind them everything counts as changed. */
const MOST_KEYS = 10_000
/** Characters of a key that is remembered: visitors write some of them. */
const LONGEST_KEY = 512

/** Bytes that a key takes beside its characters. */
const BYTES_OF_KEY = 150
/** The part of the heap that those of all sites may take. */
const PART_OF_HEAP = 1 / 32

const ofAllSites = new KeptTogether<object>(getHeapStatistics().heap_size_limit * PART_OF_HEAP)

export class ChangeLog {
  readonly #changed = new OrderedMap<string, number>()
  /** Changes before this one are forgotten. */
  #floor: number
  #newest: number
  #bytes = 0
  readonly #share: KeptShare<ChangeLog>

  /** @param floor number of the newest change that nobody has noted here */
  constructor(floor: number, together = ofAllSites) {
    this.#floor = floor
    this.#newest = floor
    this.#share = new KeptShare(together, this, log => log.#forget())
  }

  /** @param at number of the change, none below those before */
  note(key: string, at: number): void {
    this.#newest = at
    if (key.length > LONGEST_KEY) {
      this.#floor = at
      return
    }
    if (!this.#changed.has(key)) this.#bytes += bytesOf(key)
    this.#changed.set(key, at)
    for (const [oldest, forgotten] of this.#changed) {
      if (this.#changed.size <= MOST_KEYS) break
      this.#changed.delete(oldest)
      this.#bytes -= bytesOf(oldest)
      this.#floor = Math.max(this.#floor, forgotten)
    }
    this.#share.use(this.#bytes)
  }

  /** Whether what a key names has changed behind a change; true also where nobody remembers. */
  hasChanged(key: string, since: number): boolean {
    return since < this.#floor || (this.#changed.get(key) ?? 0) > since
  }

  #forget(): void {
    this.#changed.clear()
    this.#bytes = 0
    this.#floor = this.#newest
  }
}

function bytesOf(key: string): number {
  return BYTES_OF_KEY + key.length
}
