/** Siblings of an element. Short families are read off the tree, long ones numbered once in a query. */
import { type ElementNode, isElement } from '../../tree/nodes.ts'
import { localName } from './name.ts'
import type { Query } from './query.ts'

const SHORT = 16

export function previousElement(element: ElementNode, query: Query): ElementNode | undefined {
  const parent = element.parentNode
  if (!parent) return undefined
  const nodes = parent.childNodes
  if (nodes.length > SHORT) {
    query.spend(1)
    const { elements, places } = query.family(parent)
    return elements[(places.get(element) ?? 0) - 2]
  }
  for (let at = nodes.indexOf(element) - 1; at >= 0; at--) {
    const node = nodes[at]
    if (node && isElement(node)) return node
  }
  return undefined
}

export function nextElement(element: ElementNode, query: Query): ElementNode | undefined {
  const parent = element.parentNode
  if (!parent) return undefined
  const nodes = parent.childNodes
  if (nodes.length > SHORT) {
    query.spend(1)
    const { elements, places } = query.family(parent)
    return elements[places.get(element) ?? elements.length]
  }
  for (let at = nodes.indexOf(element) + 1; at < nodes.length; at++) {
    const node = nodes[at]
    if (node && isElement(node)) return node
  }
  return undefined
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
      : { place: family.places.get(element) ?? 0, size: family.elements.length }
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
