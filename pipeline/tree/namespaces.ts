/** Namespaces in scope: what prefixes mean at a place of an XML tree (Namespaces in XML 1.0, section 6). */

import { type Attribute, type ElementNode, isElement, type ParentNode } from './nodes.ts'

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

/**
 * @returns the prefix that an attribute declares, `''` for the default namespace, undefined for other attributes
 */
export function declaredPrefix(a: Attribute): string | undefined {
  if (a.prefix === 'xmlns') return a.name
  return !a.prefix && a.name === 'xmlns' ? '' : undefined
}

/**
 * @param element where to look; its own declarations count
 * @returns namespace by prefix; `''` is the default namespace, present only when declared
 */
export function inScopeNamespaces(element: ElementNode | undefined): Map<string, string> {
  const scope = new Map<string, string>()
  for (let node: ParentNode | null | undefined = element; node && isElement(node); node = node.parentNode) {
    for (const a of node.attrs) {
      const prefix = declaredPrefix(a)
      if (prefix !== undefined && !scope.has(prefix)) scope.set(prefix, a.value.trim())
    }
  }
  return scope
}

/** The part of a qualified name before the colon, or `''`. */
export function prefixOf(qualifiedName: string): string {
  const colon = qualifiedName.indexOf(':')
  return colon < 0 ? '' : qualifiedName.slice(0, colon)
}

/** The part of a qualified name behind the colon, or all of it. */
export function localName(qualifiedName: string): string {
  return qualifiedName.slice(qualifiedName.indexOf(':') + 1)
}
