/** Values that an element has from the nearest ancestor that says something. */
import { type ElementNode, parentElement } from '../nodes.ts'
import type { Query } from './query.ts'

/**
 * @param key names the kind of value; values are kept under it for the rest of the query, so every element is asked once
 * @param own what an element itself says
 * @returns what the element or its nearest ancestor says, undefined when none does
 */
export function inherited<T>(
  key: symbol,
  element: ElementNode,
  query: Query,
  own: (element: ElementNode, query: Query) => T | undefined,
): T | undefined {
  const known = query.once(key, () => new Map<ElementNode, T | undefined>())
  const passed: ElementNode[] = []
  let value: T | undefined
  for (let at: ElementNode | undefined = element; at && value === undefined; at = parentElement(at)) {
    query.spend(1)
    if (known.has(at)) {
      value = known.get(at)
      break
    }
    passed.push(at)
    value = own(at, query)
  }
  for (const each of passed) known.set(each, value)
  return value
}
