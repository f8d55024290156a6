/**
 * Members of collections as the site has them, kept in memory in leaves: a change of one member makes its leaf anew and
 * leaves all others as they are, with everything that was made of them.
 */

import { textBytes } from '../../pipeline/http/media.ts'
import { ifThere, KeptTogether } from '../../pipeline/kept-together.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { addTo, weight, ZERO } from '../../pipeline/store/tags.ts'
import { parentOf } from '../places/overlay.ts'
import type { Node } from '../places/place.ts'
import { sitePlace } from '../places/site-place.ts'

/** Some members that follow one another, ascending by name. Never changed: another leaf takes its place. */
export type Leaf = readonly Node[]

/** Members of a new leaf, and of the largest. */
const LEAF = 32
const LARGEST_LEAF = 2 * LEAF

/** Bytes of a member beside its texts, measured, and members of the largest collection that is kept. */
export const MEMBER = 400
const LARGEST = 20_000
/** Bytes of a collection without any. */
const EMPTY = 4 * MEMBER
/** Bytes of all members where nothing else is said. */
const USUAL = 16 * 1024 * 1024
/** Changed members that are looked up one by one; a whole listing is read faster than more of them. */
const MOST_CHANGED = 64

/** Members with the sum of just these (K of DAV-52); without it they may be of no one moment. */
export interface Listed {
  leaves: readonly Leaf[]
  sum: string | undefined
}

interface Kept {
  leaves: readonly Leaf[]
  /** K of DAV-52 over all members; undefined while they are read for the first time. */
  sum: string | undefined
  bytes: number
  /** Paths of members that have changed since, each with the number of its newest change. */
  changed: Map<string, number>
}

/** What is kept of the collections of all sites together. */
export type ListedMembers = KeptTogether<Kept>

/** @param most bytes */
export function listedMembers(most = USUAL): ListedMembers {
  return new KeptTogether(most)
}

export class Listings {
  readonly #store: Pick<Site['store'], 'find' | 'list'>
  /** By path of the collection. */
  readonly #kept = new Map<string, Kept>()
  readonly #all: ListedMembers
  readonly #own = new WeakRef(this)
  #changes = 0

  /** @param all counts what this and others keep */
  constructor(store: Pick<Site['store'], 'find' | 'list'>, all = listedMembers()) {
    this.#store = store
    this.#all = all
  }

  /**
   * Direct members of a collection, no older than the call. What is kept counts only as long as the sum of its members is
   * that of the collection, so that a listing never shows one half of a change.
   */
  async of(collection: string): Promise<Listed> {
    const kept = this.#kept.get(collection)
    if (kept?.sum !== undefined && (await this.#bringUpToDate(collection, kept))) return { ...kept }
    return this.#read(collection)
  }

  /** To be told of every change; a path ending in a slash stands for everything below it, too. */
  forget(paths: Iterable<string>): void {
    this.#changes++
    for (const path of paths) {
      let member = path
      for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
        const changed = this.#kept.get(parent)?.changed.set(member, this.#changes)
        if (changed && changed.size > MOST_CHANGED) this.#drop(parent)
        member = parent
      }
      if (!path.endsWith('/')) continue
      for (const known of this.#kept.keys()) if (known.startsWith(path)) this.#drop(known)
    }
  }

  /** @returns whether it now is what the store has */
  async #bringUpToDate(collection: string, kept: Kept): Promise<boolean> {
    const asked = [...kept.changed]
    const found = await Promise.all(asked.map(([path]) => this.#store.find(path)))
    const sum = await this.#sumOf(collection)
    const changes = new Map<string, Node | undefined>()
    let gain = 0n
    let { bytes } = kept
    for (const [i, [path, change]] of asked.entries()) {
      const was = memberAt(kept.leaves, path)
      const is = found[i]
      gain += (is ? weight(is) : 0n) - (was ? weight(was.resource) : 0n)
      bytes += (is ? bytesOf(is) : 0) - (was ? bytesOf(was.resource) : 0)
      changes.set(path, is && siteNode(is))
      if (kept.changed.get(path) === change) kept.changed.delete(path)
    }
    if (addTo(kept.sum ?? ZERO, gain) !== sum || this.#kept.get(collection) !== kept) return false
    kept.leaves = exchanged(kept.leaves, changes)
    kept.sum = sum
    kept.bytes = bytes
    this.#keep(collection, kept, bytes)
    return true
  }

  /** Reads a collection anew, and keeps it unless it changes right now. */
  async #read(collection: string): Promise<Listed> {
    const known = this.#kept.get(collection)?.leaves ?? []
    this.#drop(collection)
    // It hears of changes from here on.
    const kept: Kept = { leaves: [], sum: undefined, bytes: EMPTY, changed: new Map() }
    this.#kept.set(collection, kept)
    const before = await this.#sumOf(collection)
    const members = await this.#store.list(collection)
    const leaves = inLeaves(members.map(member => unchanged(known, member) ?? siteNode(member)))
    const after = await this.#sumOf(collection)
    const sum = after === before ? after : undefined
    if (this.#kept.get(collection) !== kept) return { leaves, sum }
    this.#kept.delete(collection)
    if (sum === undefined || members.length > LARGEST) return { leaves, sum }
    const bytes = members.reduce((all, member) => all + bytesOf(member), EMPTY)
    this.#kept.set(collection, Object.assign(kept, { leaves, sum, bytes }))
    this.#keep(collection, kept, bytes)
    return { leaves, sum }
  }

  #keep(collection: string, kept: Kept, bytes: number): void {
    const drop = ifThere(this.#own, listings => listings.#drop(collection))
    this.#all.use(kept, bytes, drop)
  }

  async #sumOf(collection: string): Promise<string | undefined> {
    const found = await this.#store.find(collection)
    return found && (found.members ?? ZERO)
  }

  #drop(collection: string): void {
    const kept = this.#kept.get(collection)
    if (kept) this.#all.leave(kept)
    this.#kept.delete(collection)
  }
}

function bytesOf(member: Resource): number {
  return MEMBER + textBytes(member)
}

/** The node of a member, if it is as it was: with it goes what was made of it. */
function unchanged(leaves: readonly Leaf[], member: Resource): Node | undefined {
  const node = leaves.length === 0 ? undefined : memberAt(leaves, member.path)
  return node && isSame(node.resource, member) ? node : undefined
}

function isSame(a: Resource, b: Resource): boolean {
  return (
    a.kind === b.kind &&
    a.version === b.version &&
    a.digest === b.digest &&
    a.size === b.size &&
    a.type === b.type &&
    a.created === b.created &&
    a.modified === b.modified &&
    a.sameSecond === b.sameSecond &&
    a.properties === b.properties &&
    a.members === b.members &&
    a.shown === b.shown &&
    a.language === b.language
  )
}

export function siteNode(resource: Resource): Node {
  return { resource, place: sitePlace }
}

/** @param members ascending by name */
export function inLeaves(members: readonly Node[]): Leaf[] {
  if (members.length <= LARGEST_LEAF) return members.length === 0 ? [] : [members]
  const leaves: Leaf[] = []
  for (let from = 0; from < members.length; from += LEAF) leaves.push(members.slice(from, from + LEAF))
  return leaves
}

/**
 * Leaves with some members exchanged, added or left out.
 *
 * @param changes new members by path; undefined for what is not listed any more
 */
export function exchanged(leaves: readonly Leaf[], changes: ReadonlyMap<string, Node | undefined>): readonly Leaf[] {
  if (changes.size === 0) return leaves
  const paths = Map.groupBy(changes.keys(), path => leafFor(leaves, path))
  return (leaves.length === 0 ? [[]] : leaves).flatMap((leaf, i) => {
    const here = paths.get(i)
    if (!here) return [leaf]
    const members = leaf.filter(({ resource }) => !changes.has(resource.path))
    for (const path of here) {
      const added = changes.get(path)
      if (added) members.push(added)
    }
    return inLeaves(members.sort((a, b) => compareMembers(a.resource.path, b.resource.path)))
  })
}

/** The member of exactly this path. */
export function memberAt(leaves: readonly Leaf[], path: string): Node | undefined {
  return leaves[leafFor(leaves, path)]?.find(({ resource }) => resource.path === path)
}

/** Place of the leaf that a member is in, or belongs into. */
function leafFor(leaves: readonly Leaf[], path: string): number {
  let [low, high] = [0, leaves.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (compareMembers(leaves[middle]?.[0]?.resource.path ?? '', path) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Order of the members of one collection: by the UTF-8 bytes of their names, which is that of their code points. The
 * slash of a collection does not count.
 *
 * @returns a number below, equal to, or above 0
 */
export function compareMembers(a: string, b: string): number {
  const [endA, endB] = [endOf(a), endOf(b)]
  for (let i = 0; i < endA && i < endB; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return place(x) - place(y)
  }
  return endA - endB
}

function endOf(path: string): number {
  return path.endsWith('/') ? path.length - 1 : path.length
}

/** Halves of pairs stand for code points above all others. */
function place(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
