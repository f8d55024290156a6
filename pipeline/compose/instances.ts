/** Instances as templates read them: through their schema (LIQ-15, MOD-15). */

import { ElementValue, type Value } from '../language/values.ts'
import { isItem, readItem, valueReader } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import { typesOf } from '../tree/microdata.ts'

/**
 * A property of an instance: a list where its cardinality spells that out (MOD-15).
 *
 * @returns undefined where code of its schema has to say what it is (MOD-60, MOD-71)
 */
export function instanceProperty(model: Registry, instance: ElementValue, name: string): Value | undefined {
  const property = instance.type === undefined ? undefined : model.schema(instance.type)?.properties.get(name)
  if (property?.computed || property?.read.length) return undefined
  const item = readItem(instance.node)
  const read = valueReader(model.vocabulary.ns)
  const values = (item.properties.get(name) ?? []).map((element): Value => {
    if (!isItem(element)) return read(element, item) ?? null
    return new ElementValue(
      element,
      instance.source,
      typesOf(element).find(type => model.schema(type)),
    )
  })
  const { cardinality } = property ?? {}
  const many = values.length > 1 || (cardinality?.text !== undefined && cardinality.most > 1)
  return many ? values : (values[0] ?? null)
}

/** Names of the properties that an instance has, in the order of their elements. */
export function instanceNames({ node }: ElementValue): string[] {
  return [...readItem(node).properties.keys()]
}
