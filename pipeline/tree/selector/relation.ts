/**
 * Combinators. Selectors are matched from the element outwards: backwards from the subject (`a > b`), forwards from the
 * anchor (`:has(> b)`). Once a query has become long, every result is kept under the slot of its combinator, so that
 * each is found once per element: no selector takes more than |selector| × |document| steps.
 */
import { type ChildNode, type ElementNode, isElement, type ParentNode, parentElement } from '../nodes.ts'
import { NODES_PER_STEP } from '../steps.ts'
import type { Test } from './attribute.ts'
import { type Query, Unprepared } from './query.ts'
import { adjacentElement, placeOf } from './sibling.ts'
import type { Combinator } from './syntax.ts'

/**
 * What has to be true of an element for a combinator to its left.
 *
 * @param left test of the element on the other side of the combinator
 * @param slot where results are kept; no other test uses it
 */
export function backwards(combinator: Combinator, left: Test, slot: number): Test {
  switch (combinator) {
    case '>': {
      const test = remembered(left, slot)
      return (element, query) => {
        const parent = parentElement(element)
        return parent !== undefined && test(parent, query)
      }
    }
    case ' ':
      return ancestor(left, slot)
    case '+':
      return adjacent(left, -1)
    case '~':
      return sibling(left, slot, false)
  }
}

/** The same for a combinator to the right of an element, as in `:has()`. */
export function forwards(combinator: Combinator, right: Test, slot: number): Test {
  switch (combinator) {
    case '>':
      return remembered((element, query) => {
        // Once: a long search is left and begun again.
        if (!query.isLeft(slot, element)) query.spend(element.childNodes.length >> 3)
        return someBelow(element, slot, query, right)
      }, slot)
    case ' ': {
      const below: Test = remembered(
        (element, query) => someBelow(element, slot, query, right, (child, own) => below(child, own)),
        slot,
      )
      return below
    }
    case '+':
      return adjacent(right, 1)
    case '~':
      return sibling(right, slot, true)
  }
}

/**
 * Whether a child passes, or something below it. A long search can be left; it goes on where it was, and asks nothing of
 * an element twice.
 *
 * @param slot where that is noted; no other search uses it
 * @param below asks the same of the child
 */
export function someBelow(element: ElementNode, slot: number, query: Query, passes: Test, below?: Test): boolean {
  const { childNodes } = element
  let { next, hasFailed } = query.leftAt<Below>(slot, element) ?? START
  try {
    for (let child = childNodes[next]; child; child = childNodes[++next]) {
      if (!isElement(child)) continue
      if (!hasFailed && passes(child, query)) return true
      hasFailed = true
      if (below?.(child, query)) return true
      hasFailed = false
      query.mayPause()
    }
    return false
  } catch (error) {
    if (error instanceof Unprepared) query.leave<Below>(slot, element, { next, hasFailed })
    throw error
  }
}

/** Where a search below an element is: at which child, and whether that fails itself. */
interface Below {
  next: number
  hasFailed: boolean
}

const START: Below = { next: 0, hasFailed: false }

/** Keeps what a test says of each element. */
export function remembered(test: Test, slot: number): Test {
  return (element, query) => {
    query.spend(1)
    if (!query.remembers) return test(element, query)
    const known = query.recall(slot, element)
    if (known !== undefined) return known
    const result = test(element, query)
    query.keep(slot, element, result)
    return result
  }
}

/** Whether an ancestor passes. What is kept for an element is the answer for it and its ancestors together. */
function ancestor(test: Test, slot: number): Test {
  return (element, query) => {
    const start = parentElement(element)
    let at = start
    let found: boolean | undefined
    for (; at; at = parentElement(at)) {
      query.spend(1)
      found = query.recall(slot, at) ?? (test(at, query) || undefined)
      if (found !== undefined) break
    }
    if (query.remembers) {
      for (let passed = start; passed; passed = parentElement(passed)) {
        query.keep(slot, passed, found ?? false)
        if (passed === at) break
      }
    }
    return found ?? false
  }
}

/** Whether the element right before passes (right after for 1). */
function adjacent(test: Test, step: -1 | 1): Test {
  return (element, query) => {
    const other = adjacentElement(element, step, query)
    return other !== undefined && test(other, query)
  }
}

/**
 * Whether an earlier sibling passes (a later one for `later`): the first of the family that does tells it for all of
 * them, so a family is gone through once, and only as far as was asked.
 */
function sibling(test: Test, slot: number, later: boolean): Test {
  return (element, query) => {
    const parent = element.parentNode
    if (!parent) return false
    const { elements } = query.family(parent)
    const place = placeOf(element, later, false, query)
    const search = query.search(slot, parent)
    while (!search.found && search.next < place - 1) {
      query.spend(1)
      const candidate = elements[later ? elements.length - 1 - search.next : search.next]
      if (candidate && test(candidate, query)) search.found = true
      else search.next++
      query.mayPause()
    }
    return search.found && search.next < place - 1
  }
}

/** A walk through all elements below a node in document order, which can be left. */
export class Walk {
  readonly #open: { nodes: readonly ChildNode[]; next: number }[]

  constructor(within: ParentNode) {
    this.#open = [{ nodes: within.childNodes, next: 0 }]
  }

  /** The element that it is at; the same one until it goes on. */
  get element(): ElementNode | undefined {
    for (let level = this.#open.at(-1); level; level = this.#open.at(-1)) {
      for (; level.next < level.nodes.length; level.next++) {
        const node = level.nodes[level.next]
        if (node && isElement(node)) return node
      }
      this.#open.pop()
    }
    return undefined
  }

  /** Goes on from an element that it is at. */
  goOn({ childNodes }: ElementNode): void {
    const level = this.#open.at(-1)
    if (level) level.next++
    this.#open.push({ nodes: childNodes, next: 0 })
  }
}

/** All elements below a node in document order, each paid for; undefined where the work should be left. */
export function* walking(within: ParentNode, query: Query): Generator<ElementNode | undefined> {
  const walk = new Walk(within)
  let seen = 0
  for (let at = walk.element; at; at = walk.element) {
    query.spend(1)
    yield at
    walk.goOn(at)
    if (++seen % NODES_PER_STEP === 0) yield undefined
  }
}
