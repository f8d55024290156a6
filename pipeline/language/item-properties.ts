/** Properties of items as programs and templates read them (SES-143, LIQ-16). */

import type { Declared } from '../tree/declared.ts'
import { type Property, type Referring, readingProperties } from '../tree/microdata.ts'
import type { ValueReader } from '../tree/microdata-value.ts'
import { attribute, treeOf } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'
import { indexTree, type TreeIndex } from '../tree/tree-index.ts'
import type { Allowance } from './allowance.ts'
import type { ElementValue, Source } from './values.ts'

/** Whose work it is to read them. */
export interface ItemReading {
  /** The request's: what is found out about a document is found out once for it. */
  allowance: Allowance
  /** Counts work. */
  spend(steps: number): void
  /** Whether `itemref` leads to other elements of a stored document (SEC-7); in all of them when missing. */
  refersIn?(path: string): boolean
  /** What items have as it stands in them (MOD-11); nothing when missing. */
  schemas?: Declared | undefined
}

/** Bytes that each element of a document takes in what is kept of it. */
const INDEX_BYTES = 64

/** Documents that items refer to others in, as they are while a request reads them. */
const indexes = new WeakMap<Allowance, WeakMap<Source, TreeIndex>>()

/**
 * The properties of an item in tree order, by the crawl of the HTML standard as far as `itemref` leads, in steps. All that is
 * looked at is paid for.
 *
 * @param item has `itemscope`
 * @throws AllowanceSpent, and TreeError as `readingProperties`
 */
export function* itemProperties(item: ElementValue, read: ValueReader, on: ItemReading): Steps<Property[]> {
  const { node } = item
  // Both are taken apart, however few properties there are.
  for (const name of ['itemtype', 'itemref']) on.spend((attribute(node, name)?.length ?? 0) >> 4)
  return yield* readingProperties(node, read, new ReferringItem(item, on))
}

/** A class: closures in an object would keep what they reach among what lives long. */
class ReferringItem implements Referring {
  readonly #item: ElementValue
  readonly #on: ItemReading

  constructor(item: ElementValue, on: ItemReading) {
    this.#item = item
    this.#on = on
  }

  get schemas(): Declared | undefined {
    return this.#on.schemas
  }

  refers(): boolean {
    const path = this.#item.source?.path
    return path === undefined || (this.#on.refersIn?.(path) ?? true)
  }

  index(): Steps<TreeIndex> {
    return indexing(this.#item, this.#on)
  }

  looked(elements: number): void {
    this.#on.spend(elements >> 3)
  }
}

/** Of what code has built nothing is kept, as it may change. */
function* indexing({ node, source }: ElementValue, on: ItemReading): Steps<TreeIndex> {
  const kept = source && treeOf(node) === source.document.root ? source : undefined
  let known = indexes.get(on.allowance)
  if (!known) indexes.set(on.allowance, (known = new WeakMap()))
  const found = kept && known.get(kept)
  if (found) return found
  const index = yield* indexTree(node)
  on.spend(index.order.size >> 3)
  if (kept) {
    on.allowance.take(INDEX_BYTES * index.order.size)
    known.set(kept, index)
  }
  return index
}
