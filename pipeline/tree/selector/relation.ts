/**
 * Combinators. Selectors are matched from the element outwards: backwards from the subject (`a > b`), forwards from the
 * anchor (`:has(> b)`). Once a query has become long, every result is kept under the slot of its combinator, so that
 * each is found once per element: no selector takes more than |selector| × |document| steps.
 */
import { type ElementNode, isElement, type ParentNode, parentElement } from '../../tree/nodes.ts'
import type { Test } from './attribute.ts'
import type { Query } from './query.ts'
import { nextElement, previousElement } from './sibling.ts'
import type { Combinator } from './syntax.ts'

type Step = (element: ElementNode, query: Query) => ElementNode | undefined

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
      return along(parentElement, left, slot)
    case '+':
      return (element, query) => {
        const previous = previousElement(element, query)
        return previous !== undefined && left(previous, query)
      }
    case '~':
      return along(previousElement, left, slot)
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
      return (element, query) => {
        const next = nextElement(element, query)
        return next !== undefined && right(next, query)
      }
    case '~':
      return along(nextElement, right, slot)
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

/**
 * Whether one of the elements that `step` leads to passes the test. What is kept for an element is the answer for it and
 * all behind it on the way, so the same way is never walked twice.
 */
function along(step: Step, test: Test, slot: number): Test {
  return (element, query) => {
    const start = step(element, query)
    let at = start
    let found = false
    while (at) {
      query.spend(1)
      const known = query.recall(slot, at)
      if (known !== undefined) {
        found = known
        break
      }
      if (test(at, query)) {
        found = true
        break
      }
      at = step(at, query)
    }
    if (query.remembers) {
      for (let passed = start; passed; passed = step(passed, query)) {
        query.keep(slot, passed, found)
        if (passed === at) break
      }
    }
    return found
  }
}

/** All elements below a node in document order until `visit` returns true. */
export function walk(parent: ParentNode, visit: (element: ElementNode) => boolean): boolean {
  for (const child of parent.childNodes) {
    if (isElement(child) && (visit(child) || walk(child, visit))) return true
  }
  return false
}
