/** Numbers of files and collections, with the sums of everything below each collection. */

import { parentOf } from '../store/paths.ts'

/** Changing a number costs as many steps as its path has segments, however many others there are. */
export class TreeSums {
  readonly #own = new Map<string, number>()
  /** Of collections, what they have themselves included; none that is 0. */
  readonly #sums = new Map<string, number>()
  /** Paths directly in a collection that have a sum. */
  readonly #members = new Map<string, Set<string>>()

  /**
   * @param path of a collection with its slash
   * @param size not negative
   */
  set(path: string, size: number): void {
    const gain = size - (this.#own.get(path) ?? 0)
    if (size > 0) this.#own.set(path, size)
    else this.#own.delete(path)
    if (gain === 0) return
    for (let at = path; ; at = parentOf(at)) {
      const before = this.sum(at)
      const after = at.endsWith('/') ? before + gain : size
      if (at.endsWith('/')) this.#keep(at, after)
      if (at === '/') return
      if (after === 0) this.#leave(at)
      else this.#enter(at)
    }
  }

  /** What a path has itself. */
  own(path: string): number {
    return this.#own.get(path) ?? 0
  }

  /** The same, with all that is below a collection. */
  sum(path: string): number {
    return (path.endsWith('/') ? this.#sums : this.#own).get(path) ?? 0
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

  #keep(collection: string, sum: number): void {
    if (sum === 0) this.#sums.delete(collection)
    else this.#sums.set(collection, sum)
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
