/** Text and value of elements (SES-140, SES-141). */

import { valueAttribute } from '../../tree/microdata-value.ts'
import { attribute, isElement, isText, type ParentNode } from '../../tree/nodes.ts'
import type { ElementValue } from '../values.ts'
import type { Spend } from './comparison.ts'
import { isMutable } from './kinds.ts'

/** The text of all below a node. */
export function rawText(node: ParentNode, spend: Spend): string {
  const pieces: string[] = []
  gather(node, pieces, spend)
  return pieces.join('')
}

function gather(node: ParentNode, pieces: string[], spend: Spend): void {
  spend(node.childNodes.length >> 2)
  for (const child of node.childNodes) {
    if (isText(child)) {
      spend(child.value.length >> 6)
      pieces.push(child.value)
    } else if (isElement(child)) gather(child, pieces, spend)
  }
}

export function collapsed(text: string): string {
  // Most runs are a single space already.
  return text.replace(/[ \t\n\f\r]{2,}|[\t\n\f\r]/g, ' ').replace(/^ | $/g, '')
}

/** SES-140: of a stored element collapsed, of a constructed one as it is. */
export function elementText(value: ElementValue, spend: Spend): string {
  const text = rawText(value.node, spend)
  return isMutable(value) ? text : collapsed(text)
}

/** SES-141. */
export function elementValue(value: ElementValue, spend: Spend): string | null {
  const { node } = value
  const name = valueAttribute(node)
  if (name !== undefined) return attribute(node, name) ?? ''
  const text = collapsed(rawText(node, spend))
  return text === '' ? null : text
}
