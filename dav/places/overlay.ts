/**
 * What the mount shows over a site's stored resources: drafts, and helper files that have entries in listings. An index
 * in memory of what the mount keeps unpublished; metadata files, of which there can be very many, are not in it.
 */

import { textBytes } from '../../pipeline/http/media.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'

/** Path of the collection that holds a resource; empty for the root. */
export function parentOf(path: string): string {
  if (path === '/') return ''
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(0, path.lastIndexOf('/', end - 1) + 1)
}

/** Bytes of texts for which an entry counts as another one: it takes as much without them. */
const TEXTS = 512

/** What one may count as: its texts have 3,072 bytes at most, and its path 512 collections. */
const MOST_OF_ONE = 1 + 3_072 / TEXTS + 512

/** What all may count as: each lies in memory as long as it is there, and is read at the start. */
const MOST_WEIGHT = 100_000

function weightOf(entry: Resource): number {
  return 1 + Math.floor(textBytes(entry) / TEXTS)
}

export class Overlay {
  readonly #entries = new Map<string, Resource>()
  readonly #members = new Map<string, Map<string, Resource>>()
  /** Number of entries at any depth below a collection. */
  readonly #below = new Map<string, number>()
  /** Member collections that have such a number, by collection. */
  readonly #touched = new Map<string, Set<string>>()
  /** Unix milliseconds of the newest coming or going in a collection, while there are entries below it. */
  readonly #changed = new Map<string, number>()

  #weight = 0
  /** What copies of collections that are under way may bring, by their destination. */
  readonly #coming = new Map<string, number>()

  get size(): number {
    return this.#entries.size
  }

  /** What all count as: those with long texts as several, and each collection that some are in as one more. */
  get weight(): number {
    return this.#weight
  }

  /** Whether there are as many as there may be. One copy may pass that, by as much as there is. */
  get isFull(): boolean {
    let { weight } = this
    for (const coming of this.#coming.values()) weight += coming
    return weight >= MOST_WEIGHT
  }

  /** A collection is about to be copied: until that has come to its end, it counts as the most that what is in it may. */
  beginCopy(from: string, to: string): void {
    const entries = 1 + (this.#below.get(from) ?? 0)
    this.#coming.set(to, Math.min(this.weight, entries * MOST_OF_ONE))
  }

  endCopy(to: string): void {
    this.#coming.delete(to)
  }

  /** The entry of exactly this path. */
  at(path: string): Resource | undefined {
    return this.#entries.get(path)
  }

  entries(): Iterable<Resource> {
    return this.#entries.values()
  }

  /** Entries directly in a collection. */
  membersOf(collection: string): Iterable<Resource> {
    return this.#members.get(collection)?.values() ?? []
  }

  /** Entries at any depth in a collection. */
  *below(collection: string): Iterable<Resource> {
    const open = [collection]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      yield* this.membersOf(next)
      for (const member of this.#touched.get(next) ?? []) open.push(member)
    }
  }

  /** Whether the listing or the tag of a collection differs from what the site has. */
  touches(collection: string): boolean {
    return this.#below.has(collection)
  }

  /** Member collections with entries at any depth. */
  touchedMembers(collection: string): string[] {
    return [...(this.#touched.get(collection) ?? [])]
  }

  /** Newest change of membership, unix milliseconds; 0 when none is known, or nothing is there any more. */
  changed(collection: string): number {
    return this.#changed.get(collection) ?? 0
  }

  set(resource: Resource): void {
    const { path } = resource
    const before = this.#entries.get(path)
    if (!before) this.#count(path, 1)
    this.#weight += weightOf(resource) - (before ? weightOf(before) : 0)
    this.#entries.set(path, resource)
    const parent = parentOf(path)
    let members = this.#members.get(parent)
    if (!members) this.#members.set(parent, (members = new Map()))
    members.set(path, resource)
    this.#changed.set(parent, Math.max(this.changed(parent), resource.modified))
  }

  /** @param at unix milliseconds */
  delete(path: string, at: number): void {
    const entry = this.#entries.get(path)
    if (!entry) return
    this.#entries.delete(path)
    this.#weight -= weightOf(entry)
    this.#count(path, -1)
    const parent = parentOf(path)
    const members = this.#members.get(parent)
    members?.delete(path)
    if (members?.size === 0) this.#members.delete(parent)
    if (this.touches(parent)) this.#changed.set(parent, Math.max(this.changed(parent), at))
  }

  /**
   * Takes everything at and below a collection out of the index, in turns.
   *
   * @param kept paths of what stays
   */
  async deleteBelow(collection: string, at: number, kept?: ReadonlySet<string>): Promise<void> {
    const turns = new TurnsBetween()
    for (const { path } of [...this.below(collection)]) {
      await turns.next()
      if (!kept?.has(path)) this.delete(path, at)
    }
    if (!kept?.has(collection)) this.delete(collection, at)
  }

  #count(path: string, step: number): void {
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
      const before = this.#below.get(parent) ?? 0
      const count = before + step
      // A path may have some hundred of them, each of which takes about as much as an entry.
      if (before === 0 || count === 0) this.#weight += step
      if (count > 0) this.#below.set(parent, count)
      else {
        this.#below.delete(parent)
        this.#changed.delete(parent)
      }
      this.#touch(parent, count > 0)
    }
  }

  #touch(collection: string, has: boolean): void {
    const parent = parentOf(collection)
    const members = this.#touched.get(parent)
    if (has && members) members.add(collection)
    else if (has) this.#touched.set(parent, new Set([collection]))
    else if (members?.delete(collection) && members.size === 0) this.#touched.delete(parent)
  }
}
