/** An immutable map with text keys: a changed copy shares all but a few small nodes with the map it was made from. */

/** Entries that a leaf holds before it is split. */
const LEAF = 24
const BITS = 5
const WIDTH = 1 << BITS
const HASH_BITS = 30

type Node<V> = ReadonlyMap<string, V> | readonly (Node<V> | undefined)[]

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
    for (let hash = hashOf(key); node && !(node instanceof Map); hash >>>= BITS) {
      node = (node as readonly (Node<V> | undefined)[])[hash & (WIDTH - 1)]
    }
    return node?.get(key)
  }

  /** A copy in which a key has another value, or none. */
  with(key: string, value: V | undefined): PersistentMap<V> {
    return new PersistentMap(changed(this.#root, key, value, hashOf(key), 0))
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

function isLeaf<V>(node: Node<V>): node is ReadonlyMap<string, V> {
  return node instanceof Map
}

function changed<V>(node: Node<V>, key: string, value: V | undefined, hash: number, depth: number): Node<V> {
  if (!isLeaf(node)) {
    const slot = hash & (WIDTH - 1)
    const branch = node.slice()
    branch[slot] = changed(node[slot] ?? new Map(), key, value, hash >>> BITS, depth + BITS)
    return branch
  }
  const leaf = new Map(node)
  if (value === undefined) leaf.delete(key)
  else leaf.set(key, value)
  return leaf.size > LEAF && depth < HASH_BITS ? split(leaf, depth) : leaf
}

function split<V>(leaf: ReadonlyMap<string, V>, depth: number): Node<V> {
  const branch: (Map<string, V> | undefined)[] = new Array(WIDTH).fill(undefined)
  for (const [key, value] of leaf) {
    const slot = (hashOf(key) >>> depth) & (WIDTH - 1)
    const child = (branch[slot] ??= new Map())
    child.set(key, value)
  }
  return branch
}

/** FNV-1a over UTF-16 code units, folded to `HASH_BITS`. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return ((hash >>> HASH_BITS) ^ hash) & (2 ** HASH_BITS - 1)
}
