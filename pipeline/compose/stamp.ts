/** `stamp`: values of the Context in the place of an element (COMP-31 to COMP-34). */

import { ElementValue, type Value } from '../language/values.ts'
import { readItem, valueReader } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import { declaredPrefix, writtenName } from '../tree/prefixes.ts'
import { type Composing, type Dispatch, lookUp } from './composing.ts'
import { itemsOf, type Splice, spliceOf } from './splice.ts'

export function stamping(dispatch: Dispatch): Splice[] {
  const { element, composing } = dispatch
  const names = element.attrs.filter(a => declaredPrefix(a) === undefined).map(writtenName)
  return names.flatMap(name =>
    itemsOf(lookUp(dispatch, name) ?? null, composing.allowance).flatMap(item => stamped(item, composing)),
  )
}

function stamped(value: Value, { model, allowance }: Composing): Splice[] {
  const splices = spliceOf(value, allowance)
  const id = value instanceof ElementValue ? keyOf(value, model) : undefined
  return id === undefined ? splices : splices.map(splice => ('text' in splice ? splice : { ...splice, id }))
}

/** The value of the key property of an instance (COMP-34). */
function keyOf({ node, type }: ElementValue, model: Registry): string | undefined {
  const key = type === undefined ? undefined : model.schema(type)?.key
  if (!key) return undefined
  const item = readItem(node)
  const [first] = item.properties.get(key.name) ?? []
  return first && valueReader(model.vocabulary.ns)(first, item)
}
