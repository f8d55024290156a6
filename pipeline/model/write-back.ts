/** Values written back where they are read from (MOD-22, MOD-70). */

import { cloneNode } from '../tree/clone.ts'
import { valueAttribute } from '../tree/microdata-value.ts'
import { attribute, type ElementNode } from '../tree/nodes.ts'

/**
 * A copy of a property's element that has another value.
 *
 * @param byContent the item is a configuration item, whose values a `content` attribute holds on any element
 * @returns an element without a place in a source
 */
export function withText(element: ElementNode, text: string, byContent: boolean): ElementNode {
  const copy = cloneNode(element, element.parentNode)
  copy.sourceCodeLocation = null
  const own = byContent && attribute(element, 'content') !== undefined ? 'content' : valueAttribute(element)
  if (own === undefined) {
    copy.childNodes = text === '' ? [] : [{ nodeName: '#text', value: text, parentNode: copy }]
    return copy
  }
  const present = copy.attrs.find(({ name, prefix }) => name === own && !prefix)
  if (present) present.value = text
  else copy.attrs.push({ name: own, value: text })
  return copy
}
