/** An immutable map with text keys: a changed copy shares all but a few small nodes with the map it was made from. */

/** Entries that a leaf holds before it is split. */
const LEAF = 24
const BITS = 5
const WIDTH = 1 << BITS
const HASH_BITS = 30

/** A node is only changed by the builder that made it. */
type Node<V> = Map<string, V> | (Node<V> | undefined)[]

/** A copy of a map while it is being changed. */
export interface MapBuilder<V> {
  /** Gives a key another value, or none. */
  set(key: string, value: V | undefined): void
  /** The map as it is now; nothing may be set afterwards. */
  finished(): PersistentMap<V>
}

export class PersistentMap<V> {
  readonly #root: Node<V>

  private constructor(root: Node<V>) {
    this.#root = root
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(new Map())
  }

  get(key: string): V | undefined {
    // Small maps are one leaf, which needs no hash.
    if (isLeaf(this.#root)) return this.#root.get(key)
    let node: Node<V> | undefined = this.#root
    for (let hash = hashOf(key); node && !isLeaf(node); hash >>>= BITS) node = node[hash & (WIDTH - 1)]
    return node?.get(key)
  }

  /** A copy in which a key has another value, or none. */
  with(key: string, value: V | undefined): PersistentMap<V> {
    const builder = this.builder()
    builder.set(key, value)
    return builder.finished()
  }

  /** Begins a copy with many changes: a node that was copied for one of them is not copied again for the others. */
  builder(): MapBuilder<V> {
    let root = this.#root
    const made = new Set<Node<V>>()
    return {
      set: (key, value) => void (root = changed(root, { key, value, made }, hashOf(key), 0)),
      finished: () => new PersistentMap(root),
    }
  }

  /** In no order. */
  *entries(): Generator<[string, V]> {
    const open: Node<V>[] = [this.#root]
    for (let node = open.pop(); node; node = open.pop()) {
      if (isLeaf(node)) yield* node
      else for (const child of node) if (child) open.push(child)
    }
  }
}

function isLeaf<V>(node: Node<V>): node is Map<string, V> {
  return node instanceof Map
}

/** One change, and the nodes that its builder has made. */
interface Assignment<V> {
  key: string
  value: V | undefined
  made: Set<Node<V>>
}

function changed<V>(node: Node<V>, change: Assignment<V>, hash: number, depth: number): Node<V> {
  const { key, value, made } = change
  if (!isLeaf(node)) {
    const branch = made.has(node) ? node : noted(node.slice(), made)
    const slot = hash & (WIDTH - 1)
    branch[slot] = changed(node[slot] ?? noted(new Map(), made), change, hash >>> BITS, depth + BITS)
    return branch
  }
  const leaf = made.has(node) ? node : noted(new Map(node), made)
  if (value === undefined) leaf.delete(key)
  else leaf.set(key, value)
  return leaf.size > LEAF && depth < HASH_BITS ? split(leaf, depth, made) : leaf
}

function noted<V, N extends Node<V>>(node: N, made: Set<Node<V>>): N {
  made.add(node)
  return node
}

function split<V>(leaf: ReadonlyMap<string, V>, depth: number, made: Set<Node<V>>): Node<V> {
  const branch: (Map<string, V> | undefined)[] = new Array(WIDTH).fill(undefined)
  for (const [key, value] of leaf) {
    const slot = (hashOf(key) >>> depth) & (WIDTH - 1)
    const child = (branch[slot] ??= noted(new Map(), made))
    child.set(key, value)
  }
  return noted(branch, made)
}

/** FNV-1a over UTF-16 code units, folded to `HASH_BITS`. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return ((hash >>> HASH_BITS) ^ hash) & (2 ** HASH_BITS - 1)
}
