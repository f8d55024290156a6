/**
 * What is found out about a document that an edit in place has changed: what is known of it is changed by what came and
 * went, so that a write to one element of a large document does not read all others.
 */

import { isTemplate } from '../model/items.ts'
import type { Exchange, View } from '../tree/edit/edit.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { revisionOf } from '../tree/revisions.ts'
import type { Steps } from '../tree/steps.ts'
import { TokenCounts } from '../tree/tokens.ts'
import { concluding, type Derived, type Noted, type NotedItem, notingAll, Prefixes } from './derive.ts'
import type { Derivation } from './kind.ts'

/** What the elements of a tree tell, as long as nobody edits it. */
interface Known extends Noted {
  revision: number | undefined
  tokens: TokenCounts
}

const known = new WeakMap<TreeDocument, Known>()

/** What was found out about a document that an edit would leave. */
export interface DerivedEdit {
  derived: Derived
  /** To be told of the tree that the edit has left, once it is made: the next edit builds on what this one found. */
  made(tree: TreeDocument): void
}

/**
 * As `deriving`, of a proposed document in valid UTF-8.
 *
 * @param before the tree as it is without the proposal
 * @param revision that the tree had before it showed the proposal
 * @param view the proposed one
 * @param changed elements whose content the edit changes
 * @param shown the proposed document as composition reads it
 * @throws TreeError as `deriving`
 */
export function* derivingEdit(
  before: TreeDocument,
  revision: number | undefined,
  view: View,
  derivation: Derivation,
  changed: ReadonlySet<ElementNode>,
  shown = view.document,
): Steps<DerivedEdit> {
  const { document } = view
  const edit = { changed, shown }
  const change = yield* changingKnown(before, revision, view)
  if (change) {
    const { tokens, prefixes } = change.base
    change.apply(tokens)
    try {
      const derived = yield* concluding(document, { ...change, prefixes, tokens }, derivation, true, edit)
      return { derived, made: tree => keepChanged(before, tree, change) }
    } finally {
      change.undo(tokens)
    }
  }
  const noted = { items: [] as NotedItem[], bare: [], prefixes: new Prefixes(), tokens: new TokenCounts() }
  yield* notingAll(document.root.childNodes, true, noted)
  const derived = yield* concluding(document, noted, derivation, true, edit)
  return { derived, made: tree => keep(tree, noted) }
}

/**
 * Has what is known of a tree follow an edit that was judged elsewhere, so that the next edit does not read all elements.
 *
 * @param before, revision, view as of `derivingEdit`
 * @returns to be told of the tree that the edit has left, once it is made
 */
export function* notingEdit(
  before: TreeDocument,
  revision: number | undefined,
  view: View,
): Steps<DerivedEdit['made'] | undefined> {
  const change = yield* changingKnown(before, revision, view)
  return change && (tree => keepChanged(before, tree, change))
}

function keepChanged(before: TreeDocument, tree: TreeDocument, { base, items, bare, apply }: KnownChange): void {
  if (tree !== before) return
  apply(base.tokens)
  keep(tree, { ...base, items, bare })
}

function keep(tree: TreeDocument, { items, bare, prefixes, tokens }: Omit<Known, 'revision'>): void {
  known.set(tree, { revision: revisionOf(tree), items, bare, prefixes, tokens })
}

/** What exchanges make of what is known. */
interface Change extends Pick<Noted, 'bare'> {
  items: readonly NotedItem[]
  apply(tokens: TokenCounts): void
  undo(tokens: TokenCounts): void
}

/** The same with what was known. */
interface KnownChange extends Change {
  base: Known
}

/** @returns undefined where nothing is known, or what follows is not */
function* changingKnown(
  before: TreeDocument,
  revision: number | undefined,
  { document, exchanges }: View,
): Steps<KnownChange | undefined> {
  const base = document === before && revision !== undefined ? known.get(before) : undefined
  if (!base || !exchanges || base.revision !== revision) return undefined
  const change = yield* changing(base, exchanges)
  return change && { ...change, base }
}

/** @returns undefined where it does not follow from the exchanges alone */
function* changing({ items, bare }: Known, exchanges: readonly Exchange[]): Steps<Change | undefined> {
  const gone = new Elements()
  const come = new Elements()
  let after = items
  let bareAfter = bare
  // From the end: what stands before keeps its place.
  for (const { parent, start, end, ...nodes } of exchanges.toReversed()) {
    const isShown = !isInTemplate(parent)
    const [old, fresh] = [[] as NotedItem[], [] as NotedItem[]]
    const [oldBare, freshBare] = [[] as ElementNode[], [] as ElementNode[]]
    const prefixes = new Prefixes()
    yield* notingAll(nodes.gone, isShown, { items: old, bare: oldBare, prefixes, tokens: gone })
    yield* notingAll(nodes.come, isShown, { items: fresh, bare: freshBare, prefixes, tokens: come })
    if (!prefixes.isEmpty) return undefined
    if (oldBare.length + freshBare.length > 0) {
      const left = new Set(oldBare)
      bareAfter = [...bareAfter.filter(each => !left.has(each)), ...freshBare]
    }
    if (old.length + fresh.length === 0) continue
    const at = firstFrom(items, start)
    if (old.some(({ element }, i) => items[at + i]?.element !== element)) return undefined
    const [previous, next] = [items[at - 1], items[at + old.length]]
    // An item without a place in the source stands nowhere.
    if ((previous && !(startOf(previous) < start)) || (next && !(startOf(next) >= end))) return undefined
    after = [...after.slice(0, at), ...fresh, ...after.slice(at + old.length)]
  }
  return {
    items: after,
    bare: bareAfter,
    apply: tokens => {
      for (const element of gone.list) tokens.remove(element)
      for (const element of come.list) tokens.add(element)
    },
    undo: tokens => {
      for (const element of come.list) tokens.remove(element)
      for (const element of gone.list) tokens.add(element)
    },
  }
}

/** Elements in the place of their tokens. */
class Elements {
  readonly list: ElementNode[] = []

  add(element: ElementNode): void {
    this.list.push(element)
  }
}

function isInTemplate(element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node)) {
    if (isTemplate(node)) return true
    node = node.parentNode
  }
  return false
}

/** Place of the first item that begins at an offset or behind it; items stand in the order of the source. */
function firstFrom(items: readonly NotedItem[], offset: number): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const item = items[middle]
    if (item && startOf(item) < offset) from = middle + 1
    else to = middle
  }
  return from
}

function startOf({ element }: NotedItem): number {
  return element.sourceCodeLocation?.startOffset ?? Number.NaN
}
