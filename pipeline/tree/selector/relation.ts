/**
 * Combinators. Selectors are matched from the element outwards: backwards from the subject (`a > b`), forwards from the
 * anchor (`:has(> b)`). Once a query has become long, every result is kept under the slot of its combinator, so that
 * each is found once per element: no selector takes more than |selector| × |document| steps.
 */
import { type ElementNode, isElement, type ParentNode, parentElement } from '../nodes.ts'
import type { Test } from './attribute.ts'
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
        query.spend(element.childNodes.length >> 3)
        return element.childNodes.some(child => isElement(child) && right(child, query))
      }, slot)
    case ' ': {
      const below: Test = remembered(
        (element, query) =>
          element.childNodes.some(child => isElement(child) && (right(child, query) || below(child, query))),
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
    }
    return search.found && search.next < place - 1
  }
}

/** All elements below a node in document order until `visit` returns true. */
export function walk(parent: ParentNode, visit: (element: ElementNode) => boolean): boolean {
  const nodes = parent.childNodes
  for (let at = 0; at < nodes.length; at++) {
    const child = nodes[at]
    if (child && isElement(child) && (visit(child) || walk(child, visit))) return true
  }
  return false
}
