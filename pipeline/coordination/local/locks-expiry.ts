/** Who expires next: a binary heap in which every entry knows its place, so that refreshed and ended locks leave nothing behind. */

/** An entry of a queue; `place` belongs to the queue. */
export interface Expiring {
  /** Unix milliseconds. */
  expires: number
  /** Index in the heap, -1 outside of it. */
  place: number
}

export class ExpiryQueue<E extends Expiring> {
  readonly #heap: E[] = []

  /** Puts an entry in, or at its new place after `expires` was changed. */
  set(entry: E): void {
    if (entry.place < 0) {
      entry.place = this.#heap.length
      this.#heap.push(entry)
    }
    this.#sift(entry)
  }

  /** Takes an entry out; one that is not in the queue is ignored. */
  remove(entry: E): void {
    if (entry.place < 0) return
    const last = this.#heap.pop()
    if (last && last !== entry) {
      last.place = entry.place
      this.#heap[last.place] = last
      this.#sift(last)
    }
    entry.place = -1
  }

  /** Takes out and returns an entry whose time has come. */
  due(now: number): E | undefined {
    const next = this.#heap[0]
    if (!next || next.expires > now) return undefined
    this.remove(next)
    return next
  }

  #sift(entry: E): void {
    for (let parent = this.#above(entry); parent && parent.expires > entry.expires; parent = this.#above(entry)) {
      this.#swap(parent, entry)
    }
    for (let child = this.#under(entry); child && child.expires < entry.expires; child = this.#under(entry)) {
      this.#swap(entry, child)
    }
  }

  #above(entry: E): E | undefined {
    return entry.place === 0 ? undefined : this.#heap[(entry.place - 1) >> 1]
  }

  /** The one of the two entries under this one that expires first. */
  #under(entry: E): E | undefined {
    const left = this.#heap[2 * entry.place + 1]
    const right = this.#heap[2 * entry.place + 2]
    return left && right && right.expires < left.expires ? right : left
  }

  #swap(upper: E, lower: E): void {
    const place = upper.place
    upper.place = lower.place
    lower.place = place
    this.#heap[upper.place] = upper
    this.#heap[lower.place] = lower
  }
}
