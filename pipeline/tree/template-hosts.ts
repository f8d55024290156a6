/** Where the sources of templates stand in a tree (LIQ-1). */

import { type ElementNode, isElement, type ParentNode } from './nodes.ts'
import { namespaceOf, qualifiedName, writtenName } from './prefixes.ts'

/** Elements `include` and `stamp`; attributes `template`, `paginate` and `transient`. */
export function pageNamespace(ns: string): string {
  return `${ns}/1.0`
}

/** LIQ-1. */
export function isTemplateHost(element: ElementNode, ns: string): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'template' && namespaceOf(element, name.prefix) === pageNamespace(ns)
  })
}

/** Whether a place belongs to the source of a template, where all text is program. */
export function isInTemplate(parent: ParentNode, ns: string): boolean {
  for (let node: ParentNode | null = parent; node && isElement(node); node = node.parentNode)
    if (isTemplateHost(node, ns)) return true
  return false
}
