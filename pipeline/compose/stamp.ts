/** `stamp`: values of the Context in the place of an element (COMP-31 to COMP-34). */

import { ElementValue, type Value } from '../language/values.ts'
import { readItem, valueReader } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import { declaredPrefix, writtenName } from '../tree/prefixes.ts'
import { NODES_PER_STEP } from '../tree/steps.ts'
import { type Composing, type Dispatch, lookUp } from './composing.ts'
import { itemsOf, type Splice, spliceOf } from './splice.ts'
import type { Work } from './work.ts'

/** A name is looked for in all elements around, and an instance in all that is in it. */
export function* stamping(dispatch: Dispatch): Work<Splice[]> {
  const { element, composing } = dispatch
  const names = element.attrs.filter(a => declaredPrefix(a) === undefined).map(writtenName)
  const splices: Splice[] = []
  for (const name of names) {
    for (const item of itemsOf(lookUp(dispatch, name) ?? null, composing.allowance)) {
      splices.push(...stamped(item, composing))
      if (item instanceof ElementValue || splices.length % NODES_PER_STEP === 0) yield
    }
    yield
  }
  return splices
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
