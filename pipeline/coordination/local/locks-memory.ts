/** All locks of a process: by token, by site and path, and by the time at which they expire. */

import type { Lock } from '../locks.ts'
import { type Expiring, ExpiryQueue } from './locks-expiry.ts'
import { LockTree } from './locks-tree.ts'

/** A lock with what the process knows of it. */
export interface HeldLock extends Expiring {
  readonly site: string
  /** Replaced, never changed: callers keep what they were given. */
  lock: Lock
  /** Requests that keep it alive. A lock whose time has come lives outside of the queue for as long as they do. */
  holds: number
}

/** Every lock in here is in effect, provided that `dropExpired` was called with the present time. */
export class LockMemory {
  readonly #sites = new Map<string, LockTree<HeldLock>>()
  readonly #byToken = new Map<string, HeldLock>()
  readonly #queue = new ExpiryQueue<HeldLock>()

  #weight = 0

  /** As how many all of them count. */
  get weight(): number {
    return this.#weight
  }

  /** The locks of a site; undefined when it has none. */
  of(site: string): LockTree<HeldLock> | undefined {
    return this.#sites.get(site)
  }

  find(token: string): HeldLock | undefined {
    return this.#byToken.get(token)
  }

  tokens(): string[] {
    return Array.from(this.#byToken.keys())
  }

  /** @param lock its token must not be known */
  add(site: string, lock: Lock): HeldLock {
    const held: HeldLock = { site, lock, holds: 0, expires: lock.expires, place: -1 }
    let tree = this.#sites.get(site)
    if (!tree) {
      tree = new LockTree()
      this.#sites.set(site, tree)
    }
    this.#weight -= tree.weight
    tree.add(held)
    this.#weight += tree.weight
    this.#byToken.set(lock.token, held)
    this.#queue.set(held)
    return held
  }

  /** Ends a lock; harmless when it has ended already. */
  drop(held: HeldLock): void {
    const { site, lock } = held
    if (this.#byToken.get(lock.token) !== held) return
    this.#byToken.delete(lock.token)
    this.#queue.remove(held)
    const tree = this.#sites.get(site)
    if (!tree) return
    this.#weight -= tree.weight
    tree.remove(held)
    this.#weight += tree.weight
    if (tree.size === 0) this.#sites.delete(site)
  }

  /** @param expires unix milliseconds */
  prolong(held: HeldLock, expires: number): void {
    held.expires = expires
    held.lock = { ...held.lock, expires }
    if (this.#byToken.get(held.lock.token) === held) this.#queue.set(held)
  }

  /** Has no lock last longer than until a time, in unix milliseconds. */
  shorten(latest: number): void {
    for (const held of this.#byToken.values()) if (held.expires > latest) this.prolong(held, latest)
  }

  /**
   * Drops what has expired by now, unless a request keeps it alive.
   *
   * @param most looks at no more of them
   * @returns whether that was all
   */
  dropExpired(now: number, most: number): boolean {
    for (let dropped = 0; dropped < most; dropped++) {
      const held = this.#queue.due(now)
      if (!held) return true
      if (held.holds === 0) this.drop(held)
    }
    return false
  }

  /** To be called when a hold of a lock was released: drops the lock if only the hold kept it. */
  reconsider(held: HeldLock): void {
    if (held.holds === 0 && held.place < 0) this.drop(held)
  }
}
