/** Elements that each visitor has a version of (COMP-73). */

import { type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'
import { namespaceOf, qualifiedName, writtenName } from './prefixes.ts'
import { pageNamespace } from './vocabulary.ts'

/** Whether an element carries the marker; its value is ignored. */
export function isTransient(element: ElementNode, ns: string): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'transient' && namespaceOf(element, name.prefix) === pageNamespace(ns)
  })
}

/** The outermost marked element around an element, or the element itself (COMP-74). */
export function transientAround(element: ElementNode, ns: string): ElementNode | undefined {
  let found: ElementNode | undefined
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode)
    if (isTransient(node, ns)) found = node
  return found
}
