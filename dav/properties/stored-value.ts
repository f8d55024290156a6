/** Values of dead properties from elsewhere, such as a backup that anybody may have made. */

import type { Property } from '../../pipeline/store/resource.ts'
import { type ElementNode, isElement, isText } from '../../pipeline/tree/nodes.ts'
import { parseXml } from '../../pipeline/tree/xml.ts'
import { DAV } from '../requests/xml.ts'
import { nameOf } from './property-name.ts'
import { isReadable, propertyElement, REBINDING } from './response.ts'

/**
 * Whether a value is one that PROPPATCH stores (DAV-34): text as XML, or the whole element of the property. Listings hold it
 * as it is, so that anything else would be markup of the listing; and the property has to be told under its own name. Of what
 * was stored when other names were taken, and is not told any more, only the form counts.
 */
export function isStoredValue(property: Property): boolean {
  const { namespace, name, value } = property
  const isWhole = value.startsWith('<')
  const isTold = isReadable(property)
  try {
    const element = isWhole
      ? onlyElement(isTold ? value : value.replaceAll(REBINDING, ''))
      : toldElement(isTold ? property : { namespace: '', name: 'x', value })
    if (!element || !(isWhole || element.childNodes.every(isText))) return false
    const own = nameOf(element)
    return !isTold || (own.namespace === namespace && own.name === name)
  } catch {
    return false
  }
}

/** The element that tells of a property whose value is text. */
function toldElement(property: Property): ElementNode | undefined {
  const around = onlyElement(`<D:prop xmlns:D="${DAV}">${propertyElement(property, property.value)}</D:prop>`)
  const [element, ...others] = around?.childNodes ?? []
  return element && isElement(element) && others.length === 0 ? element : undefined
}

/** The element of a text that holds nothing else: no document type, and no white space around it. */
function onlyElement(text: string): ElementNode | undefined {
  const { childNodes } = parseXml(text)
  const [element] = childNodes
  if (childNodes.length !== 1 || !element || !isElement(element)) return undefined
  return text.startsWith('<?') ? undefined : element
}
