/** Elements that code gives, and what they cost: each may be given many times, and is written as often. */

import type { Allowance } from '../language/allowance.ts'
import type { ElementValue } from '../language/values.ts'
import { cloningStored } from '../tree/clone.ts'
import { type ElementNode, isElement, isText, type ParentNode } from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** Bytes of an element, and of an attribute, beside what they hold. */
const PER_ELEMENT = 200
const PER_ATTRIBUTE = 96

/**
 * Pays for an element with all that is in it, before it is copied or written.
 *
 * @throws AllowanceSpent
 */
export function* payingFor(element: ElementNode, allowance: Allowance): Steps<void> {
  const open: ParentNode[] = [element]
  let seen = 0
  for (let parent = open.pop(); parent; parent = open.pop()) {
    allowance.step(1 + (parent.childNodes.length >> 2))
    let bytes = PER_ELEMENT
    if ('attrs' in parent) for (const { value } of parent.attrs) bytes += PER_ATTRIBUTE + value.length
    for (const child of parent.childNodes) {
      if (isElement(child)) open.push(child)
      else bytes += PER_ATTRIBUTE + (isText(child) ? child.value.length : 0)
      if (++seen % NODES_PER_STEP === 0) yield
    }
    if ('content' in parent && parent.content) open.push(parent.content)
    allowance.take(bytes)
  }
}

/** An element that code gives, as one without a place in any document: of a stored one a copy (MOD-70). */
export function* ownElement({ node, source }: ElementValue): Steps<ElementNode> {
  if (!source) return node
  const copy = yield* cloningStored(node)
  delete copy.sourceCodeLocation
  return copy
}
