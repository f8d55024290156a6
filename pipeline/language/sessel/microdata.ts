/** Microdata of elements as the language sees it (SES-42, SES-143, SES-179). */

import { TreeError } from '../../tree/limits.ts'
import { itemsWithin } from '../../tree/microdata.ts'
import { attribute, type ElementNode } from '../../tree/nodes.ts'
import type { ElementValue, Value } from '../values.ts'
import { MAX_DEPTH, tooDeep } from './comparison.ts'
import { elementValue } from './element-text.ts'
import { type Evaluation, runtimeError } from './evaluation.ts'
import { sameHandle } from './select.ts'

export interface PropertyElement {
  name: string
  element: ElementNode
}

export function isItem(node: ElementNode): boolean {
  return attribute(node, 'itemscope') !== undefined
}

/** The properties of an item in tree order, by the crawl of the HTML standard. */
export function propertiesOf(item: ElementNode, on: Evaluation): PropertyElement[] {
  if (!isItem(item)) return []
  try {
    const found = itemsWithin(item, () => '').find(({ element }) => element === item)
    const properties = found?.properties ?? []
    on.spend(8 + 4 * properties.length)
    return properties
  } catch (error) {
    throw error instanceof TreeError ? runtimeError(error.message) : error
  }
}

/** The elements of one property. */
export function valueElements(item: ElementNode, name: string, on: Evaluation): ElementNode[] {
  return propertiesOf(item, on)
    .filter(property => property.name === name)
    .map(({ element }) => element)
}

/** What a property element stands for: a nested item itself, else its value. */
export function propertyValue(element: ElementNode, owner: ElementValue, on: Evaluation): Value {
  const handle = sameHandle(owner, element)
  return isItem(element) ? handle : elementValue(handle, on.spend)
}

/** SES-42 for elements that are no instances. */
export function itemProperty(owner: ElementValue, name: string, on: Evaluation): Value {
  const elements = valueElements(owner.node, name, on)
  const [first] = elements
  if (!first) return null
  if (elements.length === 1) return propertyValue(first, owner, on)
  on.take(16 + 48 * elements.length)
  return elements.map(element => propertyValue(element, owner, on))
}

/** SES-143. */
export function microdataOf(owner: ElementValue, on: Evaluation, depth = 0): Value {
  const { node, source } = owner
  if (!isItem(node)) return null
  if (depth === MAX_DEPTH) throw tooDeep()
  const found = new Map<string, Value>()
  const type = attribute(node, 'itemtype')?.trim()
  found.set(
    '@type',
    type === undefined || type === '' ? null : type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#')) + 1),
  )
  const values = new Map<string, Value[]>()
  for (const { name, element } of propertiesOf(node, on)) {
    const handle = sameHandle(owner, element)
    const value = isItem(element) ? microdataOf(handle, on, depth + 1) : elementValue(handle, on.spend)
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  on.take(64 + 96 * values.size)
  for (const [name, all] of values) found.set(name, all.length === 1 ? (all[0] ?? null) : all)
  const id = attribute(node, 'id')
  if (source?.path !== undefined && id) found.set('@id', `${source.path}#${id}`)
  return found
}

/** SES-179: distinct property names in order. */
export function namesOf(item: ElementNode, on: Evaluation): string[] {
  return [...new Set(propertiesOf(item, on).map(({ name }) => name))]
}
