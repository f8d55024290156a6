/** Things of several owners that are kept within one number of bytes: those that were used longest ago go first. */

import type { KeptMemory } from './memory.ts'
import { OrderedMap } from './ordered-map.ts'

export class KeptTogether<Thing extends object> implements KeptMemory {
  #most: number
  /** The one that was used longest ago stands first. */
  readonly #kept = new OrderedMap<Thing, { bytes: number; drop: () => void }>()
  #bytes = 0

  /** @param most bytes */
  constructor(most: number) {
    this.#most = most
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keeps no more than so many bytes from now on. */
  limit(most: number): void {
    this.#most = most
    this.shrink(most)
  }

  /**
   * Counts a thing as the one that was used last.
   *
   * @param bytes that it takes by now
   * @param drop has its owner forget it, who need not call `leave` then; it stays as long as the thing, so that an owner that
   *   holds much more is asked by `ifThere`
   */
  use(thing: Thing, bytes: number, drop: () => void): void {
    this.#bytes += bytes - (this.#kept.get(thing)?.bytes ?? 0)
    this.#kept.set(thing, { bytes, drop })
    this.shrink(this.#most)
  }

  /** Counts a thing, which takes as much as before, as used lately. */
  touch(thing: Thing): void {
    this.#kept.use(thing)
  }

  /** Its owner has forgotten a thing. */
  leave(thing: Thing): void {
    this.#bytes -= this.#kept.drop(thing)?.bytes ?? 0
  }

  shrink(bytes: number): void {
    for (const [thing, { drop }] of this.#kept) {
      if (this.#bytes <= bytes) return
      this.leave(thing)
      drop()
    }
  }
}

/** @returns does something for an owner unless it is gone, and does not keep it in memory, as it would a site that was closed */
export function ifThere<Owner extends object>(owner: WeakRef<Owner>, work: (owner: Owner) => void): () => void {
  return () => {
    const found = owner.deref()
    if (found) work(found)
  }
}

/** What one owner takes of what is kept together, where nobody tells that the owner has gone: nothing here keeps it in memory. */
export class KeptShare<Owner extends object> {
  readonly #together: KeptTogether<object>
  readonly #drop: () => void

  /** @param drop has the owner forget what it has */
  constructor(together: KeptTogether<object>, owner: Owner, drop: (owner: Owner) => void) {
    this.#together = together
    this.#drop = ifThere(new WeakRef(owner), drop)
  }

  /** Counts it as the one that was used last. @param bytes that it takes by now */
  use(bytes: number): void {
    this.#together.use(this, bytes, this.#drop)
  }
}
