/** Namespaces of declared prefixes. In HTML, where the parser knows none, prefixes mean what `xmlns:` around them says. */
import { type Attribute, type ElementNode, HTML_NAMESPACE, isElement, type ParentNode } from '../nodes.ts'
import type { Query } from './query.ts'

/** Whether an element is in a namespace. */
export function isIn(element: ElementNode, url: string, query: Query): boolean {
  if (element.namespaceURI === url && !element.tagName.includes(':')) return true
  if (element.namespaceURI !== HTML_NAMESPACE) return element.namespaceURI === url
  const colon = element.tagName.indexOf(':')
  return colon > 0 && bound(element, element.tagName.slice(0, colon), query) === url
}

/** Whether an attribute is in a namespace. */
export function hasNamespace(
  element: ElementNode,
  { name, namespace, prefix }: Attribute,
  url: string,
  query: Query,
): boolean {
  if (namespace) return namespace === url
  const colon = name.indexOf(':')
  const written = prefix || (colon > 0 ? name.slice(0, colon) : '')
  return written !== '' && bound(element, written, query) === url
}

/** The part of a name behind its colon. */
export function localPart(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** What `xmlns:prefix` says at an element. */
function bound(element: ElementNode, prefix: string, query: Query): string | undefined {
  for (let at: ParentNode | null = element; at && isElement(at); at = at.parentNode) {
    query.spend(1)
    for (const { name, prefix: own, value } of at.attrs) {
      if (name === `xmlns:${prefix}` || (own === 'xmlns' && name === prefix)) return value.trim()
    }
  }
  return undefined
}
