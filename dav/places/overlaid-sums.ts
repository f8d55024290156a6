/**
 * What drafts and helper files add to the sums of collections (DAV-52), by member: where one of very many has changed, one
 * is looked at.
 */

import { ifThere, type KeptTogether } from '../../pipeline/kept-together.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import { type Overlay, parentOf } from './overlay.ts'

/** Bytes of a collection, and of each of its members. */
const COLLECTION = 500
const MEMBER = 200

interface Kept {
  /** What members add, by path; those that add nothing are left out. */
  gains: Map<string, bigint>
  total: bigint
  /** Members to be looked at, each with the number of its newest change. */
  changed: Map<string, number>
}

export class OverlaidSums {
  readonly #overlay: Overlay
  readonly #gainOf: (member: string) => Promise<bigint>
  readonly #all: KeptTogether<object>
  readonly #own = new WeakRef(this)
  /** By path of the collection. */
  readonly #kept = new Map<string, Kept>()
  #changes = 0

  /**
   * @param gainOf tells what a member adds by now
   * @param all counts what this and others keep
   */
  constructor(overlay: Overlay, gainOf: (member: string) => Promise<bigint>, all: KeptTogether<object>) {
    this.#overlay = overlay
    this.#gainOf = gainOf
    this.#all = all
  }

  /** What all members of a collection add together. Of members that change meanwhile it may be what they added before. */
  async of(collection: string): Promise<bigint> {
    const kept = this.#kept.get(collection) ?? this.#begun(collection)
    const turns = new TurnsBetween()
    for (const [member, change] of [...kept.changed]) {
      await turns.next()
      const gain = await this.#gainOf(member)
      // Somebody else may have looked at it, or it is another one again.
      if (kept.changed.get(member) !== change) continue
      kept.changed.delete(member)
      kept.total += gain - (kept.gains.get(member) ?? 0n)
      if (gain === 0n) kept.gains.delete(member)
      else kept.gains.set(member, gain)
    }
    if (this.#kept.get(collection) === kept)
      this.#all.use(
        kept,
        COLLECTION + kept.gains.size * MEMBER,
        ifThere(this.#own, sums => sums.#kept.delete(collection)),
      )
    return kept.total
  }

  /**
   * To be told of every change, of the site and of what is unpublished, once the overlay knows it.
   *
   * @param path ending in a slash it stands for everything below it, too
   */
  forget(path: string): void {
    this.#changes++
    for (let member = path; member !== '/' && member !== ''; member = parentOf(member)) this.#note(member)
    if (path.endsWith('/')) for (const known of this.#kept.keys()) if (known.startsWith(path)) this.#drop(known)
  }

  /** A draft may have the name of a collection. */
  #note(member: string): void {
    const kept = this.#kept.get(parentOf(member))
    if (!kept) return
    const name = member.endsWith('/') ? member.slice(0, -1) : member
    for (const path of [name, `${name}/`]) {
      const isPart = this.#overlay.at(path) || this.#overlay.touches(path)
      if (isPart || kept.gains.has(path)) kept.changed.set(path, this.#changes)
      // It adds nothing, as before: names that come and go would be remembered until somebody asks.
      else kept.changed.delete(path)
    }
  }

  #begun(collection: string): Kept {
    const members = [...this.#overlay.membersOf(collection)].map(({ path }) => path)
    const changed = [...members, ...this.#overlay.touchedMembers(collection)].map(
      path => [path, this.#changes] as const,
    )
    const kept: Kept = { gains: new Map(), total: 0n, changed: new Map(changed) }
    this.#kept.set(collection, kept)
    return kept
  }

  #drop(collection: string): void {
    const kept = this.#kept.get(collection)
    if (kept) this.#all.leave(kept)
    this.#kept.delete(collection)
  }
}
