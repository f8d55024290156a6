/** Siblings of an element. Short families are read off the tree, long ones numbered once in a query. */
import { type ElementNode, isElement } from '../nodes.ts'
import { localName } from './name.ts'
import type { Query } from './query.ts'

const SHORT = 16

/** The element right before another among its siblings (step -1), or right after it (step 1). */
export function adjacentElement(element: ElementNode, step: -1 | 1, query: Query): ElementNode | undefined {
  const parent = element.parentNode
  if (!parent) return undefined
  const nodes = parent.childNodes
  if (nodes.length > SHORT) {
    query.spend(1)
    const family = query.family(parent)
    const place = query.placeIn(family, element)
    return place === undefined ? undefined : family.elements[place - 1 + step]
  }
  for (let at = nodes.indexOf(element) + step; ; at += step) {
    const node = nodes[at]
    if (!node || isElement(node)) return node
  }
}

/**
 * 1-based place of an element among its siblings.
 *
 * @param last count from the end
 * @param ofType count only elements of the same type
 */
export function placeOf(element: ElementNode, last: boolean, ofType: boolean, query: Query): number {
  const parent = element.parentNode
  if (!parent) return 1
  const nodes = parent.childNodes
  if (nodes.length > SHORT) {
    const family = query.family(parent)
    const { place, size } = ofType
      ? query.placeOfType(family, element)
      : { place: query.placeIn(family, element) ?? 0, size: family.elements.length }
    return last ? size - place + 1 : place
  }
  const step = last ? -1 : 1
  let place = 1
  for (let at = last ? nodes.length - 1 : 0; nodes[at] !== element; at += step) {
    const node = nodes[at]
    if (!node) return 0
    if (isElement(node) && (!ofType || isSameType(node, element, query))) place++
  }
  return place
}

function isSameType(a: ElementNode, b: ElementNode, { document: { kind } }: Query): boolean {
  return a.namespaceURI === b.namespaceURI && localName(a, kind) === localName(b, kind)
}
