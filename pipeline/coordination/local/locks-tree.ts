/**
 * The locks of one site by path: a tree of path segments that holds nothing but locked paths and what leads to them, so
 * that a look-up upwards costs the depth of the path and one downwards costs what it finds.
 */

import { type Lock, type LockScope, lockKey } from '../locks.ts'

/** Anything that stands for a lock. */
export interface Locked {
  readonly lock: Lock
}

interface Node<L> {
  parent: Node<L> | undefined
  /** Segment by which the parent knows it. */
  name: string
  members: Map<string, Node<L>>
  /** Locks on this very path, in the order in which they were taken. */
  locks: L[]
  /** Locks here and below. */
  total: number
  /** Exclusive locks here and below. */
  exclusive: number
}

/** A conflict found by `LockTree.conflict`. */
export interface Conflict<L> {
  holder: L
  /** The holder lies below the wanted path; nothing is in the way on it or above. */
  below: boolean
}

/** Bytes that a node of the tree takes, and those beyond its own that a lock may take before it counts as another one. Measured. */
const NODE_BYTES = 300
const LOCK_BYTES = 2048

/** What a lock counts as: one with a long owner, or far down, as several. */
function weightOf({ path, owner }: Lock): number {
  return 1 + Math.floor((owner.length + segments(path).length * NODE_BYTES) / LOCK_BYTES)
}

function newNode<L>(parent: Node<L> | undefined, name: string): Node<L> {
  return { parent, name, members: new Map(), locks: [], total: 0, exclusive: 0 }
}

/** Segments of a path; the root has none. */
function segments(path: string): string[] {
  const key = lockKey(path)
  return key === '' ? [] : key.slice(1).split('/')
}

export class LockTree<L extends Locked> {
  readonly #root: Node<L> = newNode<L>(undefined, '')
  #weight = 0

  /** Number of locks. */
  get size(): number {
    return this.#root.total
  }

  /** As how many locks they count by what they take: a path of 1,024 characters may have 511 nodes to itself. */
  get weight(): number {
    return this.#weight
  }

  add(entry: L): void {
    this.#weight += weightOf(entry.lock)
    let node = this.#root
    for (const name of segments(entry.lock.path)) {
      let next = node.members.get(name)
      if (!next) {
        next = newNode(node, name)
        node.members.set(name, next)
      }
      node = next
    }
    node.locks.push(entry)
    this.#count(node, entry.lock.scope, 1)
  }

  /** Takes a lock out; one that is not in the tree is ignored. */
  remove(entry: L): void {
    const node = this.#find(entry.lock.path)
    const at = node?.locks.indexOf(entry) ?? -1
    if (!node || at < 0) return
    node.locks.splice(at, 1)
    this.#weight -= weightOf(entry.lock)
    this.#count(node, entry.lock.scope, -1)
  }

  #count(node: Node<L>, scope: LockScope, by: 1 | -1): void {
    for (let each: Node<L> | undefined = node; each; each = each.parent) {
      each.total += by
      if (scope === 'exclusive') each.exclusive += by
      if (each.total === 0) each.parent?.members.delete(each.name)
    }
  }

  #find(path: string): Node<L> | undefined {
    let node: Node<L> | undefined = this.#root
    for (const name of segments(path)) {
      node = node.members.get(name)
      if (!node) return undefined
    }
    return node
  }

  /** Locks in whose scope a path lies, outermost first. */
  on(path: string): L[] {
    const found: L[] = []
    let node = this.#root
    for (const name of segments(path)) {
      for (const entry of node.locks) if (entry.lock.depth === 'infinity') found.push(entry)
      const next = node.members.get(name)
      if (!next) return found
      node = next
    }
    found.push(...node.locks)
    return found
  }

  /** Locks taken on this very path. */
  at(path: string): readonly L[] {
    return this.#find(path)?.locks ?? []
  }

  /** Locks on the direct members of a path. */
  onMembers(path: string): L[] {
    const members = this.#find(path)?.members.values() ?? []
    return Array.from(members).flatMap(member => member.locks)
  }

  /**
   * Locks on what lies below a path.
   *
   * @param most stops after that many locked paths
   */
  below(path: string, most = Number.POSITIVE_INFINITY): L[] {
    const found: L[] = []
    let paths = 0
    const start = this.#find(path)
    const open = start ? [start.members.values()] : []
    for (let level = open.at(-1); level && paths < most; level = open.at(-1)) {
      const { value: node } = level.next()
      if (!node) {
        open.pop()
        continue
      }
      if (node.locks.length > 0) paths++
      for (const entry of node.locks) found.push(entry)
      open.push(node.members.values())
    }
    return found
  }

  /** The lock that stands in the way of another one (DAV-82). */
  conflict(wanted: Pick<Lock, 'path' | 'scope' | 'depth'>): Conflict<L> | undefined {
    const alone = wanted.scope === 'exclusive'
    const holder = this.on(wanted.path).find(({ lock }) => alone || lock.scope === 'exclusive')
    if (holder) return { holder, below: false }
    if (wanted.depth === 0) return undefined
    const node = this.#find(wanted.path)
    const inTheWay = (each: Node<L>) => (alone ? each.total : each.exclusive) > 0
    // The counts lead straight down to a conflict, if there is one.
    for (let next = node && first(node, inTheWay); next; next = first(next, inTheWay)) {
      const below = next.locks.find(({ lock }) => alone || lock.scope === 'exclusive')
      if (below) return { holder: below, below: true }
    }
    return undefined
  }
}

function first<L>(node: Node<L>, fits: (member: Node<L>) => boolean): Node<L> | undefined {
  for (const member of node.members.values()) if (fits(member)) return member
  return undefined
}
