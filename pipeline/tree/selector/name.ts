/** Names of elements, as selectors see them. */
import { type DocumentKind, type ElementNode, HTML_NAMESPACE } from '../nodes.ts'

/** Local name: in XML what follows the prefix, in HTML the whole tag name. */
export function localName(element: ElementNode, kind: DocumentKind): string {
  return kind === 'html' ? element.tagName : element.tagName.slice(element.tagName.indexOf(':') + 1)
}

export function isHtml(element: ElementNode, ...names: string[]): boolean {
  return element.namespaceURI === HTML_NAMESPACE && names.includes(element.tagName)
}
