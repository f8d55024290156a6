/** Microdata of elements as the language sees it (SES-42, SES-143, SES-179). */

import { trimmed } from '../../tree/ascii.ts'
import { TreeError } from '../../tree/limits.ts'
import { attribute, type ElementNode } from '../../tree/nodes.ts'
import { itemProperties } from '../item-properties.ts'
import type { ElementValue, Value } from '../values.ts'
import { MAX_DEPTH, tooDeep } from './comparison.ts'
import { valueOfElement } from './element-text.ts'
import { type Evaluation, Pending, pausing, runtimeError, type Work } from './evaluation.ts'
import { sameHandle } from './select.ts'

export interface PropertyElement {
  name: string
  element: ElementNode
}

export function isItem(node: ElementNode): boolean {
  return attribute(node, 'itemscope') !== undefined
}

/** Properties that are looked at without a pause. */
const WITHOUT_PAUSE = 500

/** The properties of an item in tree order, by the crawl of the HTML standard as far as `itemref` leads (SEC-7). */
export function* propertiesOf(
  item: ElementValue,
  on: Evaluation,
  refersIn = on.host.refersIn,
): Work<PropertyElement[]> {
  if (!isItem(item.node)) return []
  const { allowance, spend, host } = on
  try {
    const properties = yield* pausing(
      itemProperties(item, () => '', { allowance, spend, refersIn, schemas: host.schemas }),
    )
    on.spend(8 + 4 * properties.length)
    return properties
  } catch (error) {
    throw error instanceof TreeError ? runtimeError(error.message, 'limit') : error
  }
}

/** The elements of one property. */
export function* valueElements(item: ElementValue, name: string, on: Evaluation): Work<ElementNode[]> {
  const properties = yield* propertiesOf(item, on)
  return properties.filter(property => property.name === name).map(({ element }) => element)
}

/** What a property element stands for: a nested item itself, else its value. */
export function* propertyValue(handle: ElementValue, on: Evaluation): Work {
  if (isItem(handle.node)) return handle
  // Elements in each other repeat each other's text.
  if (on.isDue) yield undefined
  const value = valueOfElement(handle, on.spend)
  return value instanceof Pending ? yield* value.work : value
}

/** What several property elements stand for. */
export function* propertyValues(handles: readonly ElementValue[], on: Evaluation): Work<Value[]> {
  const values: Value[] = []
  for (const handle of handles) {
    values.push(yield* propertyValue(handle, on))
    if (values.length % WITHOUT_PAUSE === 0) yield undefined
  }
  return values
}

/** The elements of a property that its schema has judged, which follows no `itemref` (MOD-11). */
export function* judgedElements(item: ElementValue, name: string, on: Evaluation): Work<ElementNode[]> {
  const properties = yield* propertiesOf(item, on, () => false)
  return properties.filter(property => property.name === name).map(({ element }) => element)
}

/** SES-42 for elements that are no instances. */
export function* itemProperty(owner: ElementValue, name: string, on: Evaluation): Work {
  const elements = yield* valueElements(owner, name, on)
  const [first] = elements
  if (!first) return null
  if (elements.length === 1) return yield* propertyValue(sameHandle(owner, first), on)
  on.take(16 + 48 * elements.length)
  return yield* propertyValues(
    elements.map(element => sameHandle(owner, element)),
    on,
  )
}

/**
 * SES-143.
 *
 * @param open items around it: one that `itemref` makes a part of itself is left out there, as in JSON-LD (HTTP-72)
 */
export function* microdataOf(owner: ElementValue, on: Evaluation, open = new Set<ElementNode>()): Work {
  const { node, source } = owner
  if (!isItem(node)) return null
  if (open.size === MAX_DEPTH) throw tooDeep()
  open.add(node)
  const found = new Map<string, Value>()
  const type = trimmed(attribute(node, 'itemtype') ?? '')
  found.set('@type', type === '' ? null : type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#')) + 1))
  const values = new Map<string, Value[]>()
  let seen = 0
  for (const { name, element } of yield* propertiesOf(owner, on)) {
    if (++seen % WITHOUT_PAUSE === 0) yield undefined
    if (open.has(element)) continue
    const handle = sameHandle(owner, element)
    const value: Value = yield* isItem(element) ? microdataOf(handle, on, open) : propertyValue(handle, on)
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  open.delete(node)
  on.take(64 + 96 * values.size)
  for (const [name, all] of values) {
    if (++seen % WITHOUT_PAUSE === 0) yield undefined
    found.set(name, all.length === 1 ? (all[0] ?? null) : all)
  }
  const id = attribute(node, 'id')
  if (source?.path !== undefined && id) found.set('@id', `${source.path}#${id}`)
  return found
}

/** SES-179: distinct property names in order. */
export function* namesOf(item: ElementValue, on: Evaluation): Work<string[]> {
  const names = new Set<string>()
  let seen = 0
  for (const { name } of yield* propertiesOf(item, on)) {
    if (++seen % WITHOUT_PAUSE === 0) yield undefined
    names.add(name)
  }
  return [...names]
}
