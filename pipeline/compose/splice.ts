/** What directives leave in their place (COMP-31, COMP-58). */

import type { Allowance } from '../language/allowance.ts'
import { SesselError, textForm } from '../language/sessel/sessel.ts'
import { ElementValue, isList, type Value } from '../language/values.ts'
import type { ChildNode, ElementNode, TreeDocument } from '../tree/nodes.ts'
import { compositionError } from './failure.ts'

export type Splice =
  /** An element of a stored document, by its tree; `id` takes the place of its own. */
  | { stored: ElementNode; tree: TreeDocument; id?: string | undefined }
  /** Nodes that are stored nowhere. */
  | { built: readonly ChildNode[]; id?: string | undefined }
  | { text: string }

/** Steps for each item of a list, which becomes a node of the page. */
const STEPS_PER_ITEM = 8

/**
 * A value, or what is in a list and in the lists in it, without null. One list may stand in others many times: all is paid for.
 *
 * @throws AllowanceSpent
 */
export function itemsOf(value: Value, allowance: Allowance): Value[] {
  const items: Value[] = []
  const open = [[value].values()]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { value: item, done } = level.next()
    if (done) open.pop()
    else if (item !== null && isList(item)) {
      allowance.step(STEPS_PER_ITEM * (1 + item.length))
      allowance.take(16 * item.length)
      open.push(item.values())
    } else if (item !== null) items.push(item)
  }
  return items
}

/**
 * How a value is put into a page: lists item by item, null not at all.
 *
 * @throws AllowanceSpent
 */
export function splicesOf(value: Value, allowance: Allowance): Splice[] {
  return itemsOf(value, allowance).flatMap(item => spliceOf(item, allowance))
}

/**
 * @param value that is no list
 * @throws AllowanceSpent
 * @throws Fault for a dictionary that is too large to become a text
 */
export function spliceOf(value: Value, allowance: Allowance): Splice[] {
  if (value === null) return []
  if (!(value instanceof ElementValue)) return [{ text: textOf(value, allowance) }]
  const { node, source } = value
  return source?.path === undefined ? [{ built: [node] }] : [{ stored: node, tree: source.document }]
}

/** Whether a result replaces the element whose attribute has asked for it (COMP-55). */
export function holdsElements(value: Value): boolean {
  return (
    value instanceof ElementValue ||
    (isList(value) && value.length > 0 && value.every(item => item instanceof ElementValue))
  )
}

/** The same text as everywhere else in programs (SES-64, SES-246). */
function textOf(value: Value, allowance: Allowance): string {
  try {
    return textForm(value, steps => allowance.step(steps))
  } catch (error) {
    throw error instanceof SesselError ? compositionError(error.message) : error
  }
}
