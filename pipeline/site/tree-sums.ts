/**
 * Numbers of files and collections, with the sum and the count of everything below each collection: without their paths, so
 * that those of a million files take some 70 MB, and none of it in the heap (SEC-12).
 */

import { hash, randomBytes } from 'node:crypto'
import { parentOf } from '../store/paths.ts'
import type { Steps } from '../tree/steps.ts'

/** Nodes of a block: those of a site that is small take one. */
const SHIFT = 7
const NODES = 1 << SHIFT

/** Words of a node. A path is known by eight bytes of its digest: whoever chooses paths cannot choose them. */
const DIGEST = 0
const DIGEST_TOO = 1
/** The first node of the bucket that has the number of this node, and the next one in the bucket that the node is in. */
const FIRST = 2
const NEXT = 3
const PARENT = 4
const CHILD = 5
const BEFORE = 6
const BEHIND = 7
/** As how many it counts itself, and with all that is below it. */
const WEIGHT = 8
const COUNT = 9
const WORDS = 10

/** Sizes of a node. */
const OWN = 0
const PART = 1
const SUM = 2
const SIZES = 3

const NONE = 0
const KEY = randomBytes(16).toString('binary')

/** What is said of a path; nothing unless it is said. */
export interface Numbers {
  /** Not negative. */
  size?: number
  /** What of the size is told by itself. */
  part?: number
  /** Whether it counts, as it does with a size. */
  isThere?: boolean
  /** Whether all collections around it do as well. */
  isWithin?: boolean
}

/** Changing a number costs as many steps as its path has segments, however many others there are. */
export class TreeSums {
  readonly #weigh: (path: string) => number
  readonly #words: Uint32Array[] = []
  readonly #sizes: Float64Array[] = []
  /** Numbers of nodes that were given, from 1, which are those of the buckets as well. */
  #given = 0
  /** The first of those that are free again; its `NEXT` is the next one. */
  #free = NONE

  /** @param weigh as how many a path counts */
  constructor(weigh: (path: string) => number = () => 1) {
    this.#weigh = weigh
  }

  /** @param path of a collection with its slash */
  set(path: string, { size = 0, part = 0, isThere = size > 0, isWithin = false }: Numbers): void {
    const node = this.#find(path) || (isThere ? this.#make(path) : NONE)
    if (node === NONE) return
    const weight = isThere ? this.#weigh(path) : 0
    const gain = size - this.#size(node, OWN)
    let more = weight - this.#word(node, WEIGHT)
    this.#setSize(node, OWN, size)
    this.#setSize(node, PART, part)
    this.#setWord(node, WEIGHT, weight)
    if (gain === 0 && more === 0) return
    let around = path
    for (let at = node; at !== NONE; at = this.#word(at, PARENT)) {
      if (isWithin && around !== '/' && this.#word(at, WEIGHT) === 0) {
        const its = this.#weigh(around)
        this.#setWord(at, WEIGHT, its)
        more += its
      }
      this.#setSize(at, SUM, this.#size(at, SUM) + gain)
      this.#setWord(at, COUNT, this.#word(at, COUNT) + more)
      if (isWithin) around = parentOf(around)
    }
    this.#leave(node)
  }

  /** Forgets a path and everything below it, one in each step. To be ended before anything else is set. */
  *forgetting(path: string): Steps<void> {
    for (let at = this.#find(path); at !== NONE; at = this.#find(path)) {
      for (let child = at; child !== NONE; child = this.#word(at, CHILD)) at = child
      const [size, weight] = [this.#size(at, OWN), this.#word(at, WEIGHT)]
      for (let each = at; each !== NONE; each = this.#word(each, PARENT)) {
        this.#setSize(each, SUM, this.#size(each, SUM) - size)
        this.#setWord(each, COUNT, this.#word(each, COUNT) - weight)
      }
      this.#leave(at)
      yield
    }
  }

  /** Whether a path counts, be its size 0. */
  has(path: string): boolean {
    return this.#word(this.#find(path), WEIGHT) > 0
  }

  /** What a path has itself. */
  own(path: string): number {
    return this.#size(this.#find(path), OWN)
  }

  part(path: string): number {
    return this.#size(this.#find(path), PART)
  }

  /** What a path has itself, with all that is below a collection. */
  sum(path: string): number {
    return this.#size(this.#find(path), SUM)
  }

  /** As how many those count that are there: the path, and all that is below a collection. */
  count(path: string): number {
    return this.#word(this.#find(path), COUNT)
  }

  #word(node: number, word: number): number {
    return this.#words[node >>> SHIFT]?.[(node & (NODES - 1)) * WORDS + word] ?? 0
  }

  #setWord(node: number, word: number, value: number): void {
    const block = this.#words[node >>> SHIFT]
    if (block) block[(node & (NODES - 1)) * WORDS + word] = value
  }

  #size(node: number, size: number): number {
    return this.#sizes[node >>> SHIFT]?.[(node & (NODES - 1)) * SIZES + size] ?? 0
  }

  #setSize(node: number, size: number, value: number): void {
    const block = this.#sizes[node >>> SHIFT]
    if (block) block[(node & (NODES - 1)) * SIZES + size] = value
  }

  /** @returns `NONE` where nothing is known of a path */
  #find(path: string): number {
    if (this.#given === 0) return NONE
    const [digest, too] = digestOf(path)
    let at = this.#word(this.#bucketOf(digest), FIRST)
    while (at !== NONE && (this.#word(at, DIGEST) !== digest || this.#word(at, DIGEST_TOO) !== too))
      at = this.#word(at, NEXT)
    return at
  }

  /** Makes a node, and those of collections around it that have none. */
  #make(path: string): number {
    const node = this.#take()
    const [digest, too] = digestOf(path)
    this.#setWord(node, DIGEST, digest)
    this.#setWord(node, DIGEST_TOO, too)
    this.#enter(node)
    if (path === '/') return node
    const around = parentOf(path)
    const parent = this.#find(around) || this.#make(around)
    const behind = this.#word(parent, CHILD)
    this.#setWord(node, PARENT, parent)
    this.#setWord(node, BEHIND, behind)
    this.#setWord(parent, CHILD, node)
    if (behind !== NONE) this.#setWord(behind, BEFORE, node)
    return node
  }

  /** Takes away a node below which nothing counts, and those around it of which that is true then. */
  #leave(node: number): void {
    for (let at = node; at !== NONE && this.#word(at, COUNT) === 0; ) {
      const [parent, before, behind] = [this.#word(at, PARENT), this.#word(at, BEFORE), this.#word(at, BEHIND)]
      if (before !== NONE) this.#setWord(before, BEHIND, behind)
      else this.#setWord(parent, CHILD, behind)
      if (behind !== NONE) this.#setWord(behind, BEFORE, before)
      this.#exit(at)
      const first = this.#word(at, FIRST)
      for (let word = 0; word < WORDS; word++) this.#setWord(at, word, 0)
      for (let size = 0; size < SIZES; size++) this.#setSize(at, size, 0)
      this.#setWord(at, FIRST, first)
      this.#setWord(at, NEXT, this.#free)
      this.#free = at
      at = parent
    }
  }

  /** @returns a node of which nothing is said */
  #take(): number {
    const free = this.#free
    if (free !== NONE) {
      this.#free = this.#word(free, NEXT)
      this.#setWord(free, NEXT, NONE)
      return free
    }
    const node = this.#given + 1
    if (node >= this.#words.length * NODES) {
      this.#words.push(new Uint32Array(NODES * WORDS))
      this.#sizes.push(new Float64Array(NODES * SIZES))
    }
    this.#given = node
    this.#split(node)
    return node
  }

  /** The bucket of a digest, of which there are as many as nodes: each new one takes from one before it, without a pause for all. */
  #bucketOf(digest: number): number {
    const high = 2 ** (31 - Math.clz32(this.#given))
    const wide = digest % (2 * high)
    return (wide < this.#given ? wide : digest % high) + 1
  }

  /** Moves to the newest bucket what belongs there. */
  #split(bucket: number): void {
    if (bucket === 1) return
    const from = ((bucket - 1) % 2 ** (31 - Math.clz32(bucket - 1))) + 1
    let at = this.#word(from, FIRST)
    this.#setWord(from, FIRST, NONE)
    while (at !== NONE) {
      const next = this.#word(at, NEXT)
      this.#enter(at)
      at = next
    }
  }

  #enter(node: number): void {
    const bucket = this.#bucketOf(this.#word(node, DIGEST))
    this.#setWord(node, NEXT, this.#word(bucket, FIRST))
    this.#setWord(bucket, FIRST, node)
  }

  #exit(node: number): void {
    const bucket = this.#bucketOf(this.#word(node, DIGEST))
    const next = this.#word(node, NEXT)
    let at = this.#word(bucket, FIRST)
    if (at === node) this.#setWord(bucket, FIRST, next)
    else {
      while (this.#word(at, NEXT) !== node) at = this.#word(at, NEXT)
      this.#setWord(at, NEXT, next)
    }
  }
}

function digestOf(path: string): [number, number] {
  const digest = hash('sha256', KEY + path, 'binary')
  return [wordAt(digest, 0), wordAt(digest, 4)]
}

function wordAt(bytes: string, at: number): number {
  const [a, b, c, d] = [
    bytes.charCodeAt(at),
    bytes.charCodeAt(at + 1),
    bytes.charCodeAt(at + 2),
    bytes.charCodeAt(at + 3),
  ]
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}
