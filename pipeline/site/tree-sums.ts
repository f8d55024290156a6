/** Numbers of files and collections, with the sum and the count of everything below each collection. */

import { parentOf } from '../store/paths.ts'

/** Of everything that is in a collection, with the collection itself. */
interface Sum {
  size: number
  count: number
}

/** Changing a number costs as many steps as its path has segments, however many others there are. */
export class TreeSums {
  readonly #own = new Map<string, number>()
  /** Of collections, what they have themselves included; none in which nothing has a number. */
  readonly #sums = new Map<string, Sum>()
  /** Paths directly in a collection that have a number, or something below them that has one. */
  readonly #members = new Map<string, Set<string>>()
  readonly #weigh: (path: string) => number

  /** @param weigh as how many a path counts */
  constructor(weigh: (path: string) => number = () => 1) {
    this.#weigh = weigh
  }

  /**
   * @param path of a collection with its slash
   * @param size not negative
   * @param isThere whether it counts
   * @param isWithin whether all collections around it do as well
   */
  set(path: string, size: number, isThere = size > 0, isWithin = false): void {
    const before = this.#own.get(path)
    const gain = size - (before ?? 0)
    let more = (Number(isThere) - Number(before !== undefined)) * this.#weigh(path)
    if (isThere) this.#own.set(path, size)
    else this.#own.delete(path)
    if (gain === 0 && more === 0) return
    for (let at = path; ; at = parentOf(at)) {
      if (isWithin && at !== '/' && !this.#own.has(at)) {
        this.#own.set(at, 0)
        more += this.#weigh(at)
      }
      if (at.endsWith('/')) this.#add(at, gain, more)
      if (at === '/') return
      if (this.count(at) === 0) this.#leave(at)
      else this.#enter(at)
    }
  }

  /** Whether a path has a number, be it 0. */
  has(path: string): boolean {
    return this.#own.has(path)
  }

  /** What a path has itself. */
  own(path: string): number {
    return this.#own.get(path) ?? 0
  }

  /** The same, with all that is below a collection. */
  sum(path: string): number {
    return (path.endsWith('/') ? this.#sums.get(path)?.size : this.#own.get(path)) ?? 0
  }

  /** As how many those count that have a number: the path, and all that is below a collection. */
  count(path: string): number {
    return path.endsWith('/') ? (this.#sums.get(path)?.count ?? 0) : Number(this.has(path)) * this.#weigh(path)
  }

  /** Paths that have a number, of a collection and everything below it. */
  within(collection: string): string[] {
    const found: string[] = []
    const open = [collection]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#own.has(at)) found.push(at)
      for (const member of this.#members.get(at) ?? []) open.push(member)
    }
    return found
  }

  #add(collection: string, gain: number, more: number): void {
    const { size, count } = this.#sums.get(collection) ?? { size: 0, count: 0 }
    if (count + more === 0) this.#sums.delete(collection)
    else this.#sums.set(collection, { size: size + gain, count: count + more })
  }

  #enter(path: string): void {
    const parent = parentOf(path)
    const members = this.#members.get(parent)
    if (members) members.add(path)
    else this.#members.set(parent, new Set([path]))
  }

  #leave(path: string): void {
    const parent = parentOf(path)
    const members = this.#members.get(parent)
    members?.delete(path)
    if (members?.size === 0) this.#members.delete(parent)
  }
}
