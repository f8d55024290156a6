/** Values of dead properties from elsewhere, such as a backup that anybody may have made. */

import type { Property } from '../../pipeline/store/resource.ts'
import { type ElementNode, isElement, isText } from '../../pipeline/tree/nodes.ts'
import { parseXml } from '../../pipeline/tree/xml.ts'
import { nameOf } from './property-name.ts'

/**
 * Whether a value is one that PROPPATCH stores (DAV-34): text as XML, or the whole element of the property. Listings hold it
 * as it is, so that anything else would be markup of the listing.
 */
export function isStoredValue({ namespace, name, value }: Property): boolean {
  if (value === '') return true
  try {
    if (!value.startsWith('<')) return onlyElement(`<x>${value}</x>`)?.childNodes.every(isText) === true
    const element = onlyElement(value)
    if (!element) return false
    const own = nameOf(element)
    return own.namespace === namespace && own.name === name
  } catch {
    return false
  }
}

/** The element of a text that holds nothing else: no document type, and no white space around it. */
function onlyElement(text: string): ElementNode | undefined {
  const { childNodes } = parseXml(text)
  const [element] = childNodes
  if (childNodes.length !== 1 || !element || !isElement(element)) return undefined
  return text.startsWith('<?') ? undefined : element
}
