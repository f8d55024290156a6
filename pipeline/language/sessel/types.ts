/** `v isa T` (SES-56). */

import { typesOf } from '../../tree/microdata.ts'
import { attribute } from '../../tree/nodes.ts'
import { ElementValue, isDictionary, isList, type Value } from '../values.ts'
import { type Evaluation, typeError } from './evaluation.ts'
import { ClassValue, SelectorValue, TypeName } from './kinds.ts'
import { TemporalValue } from './temporal-value.ts'

export function isA(value: Value, type: Value, on: Evaluation): boolean {
  if (type instanceof ClassValue) return isOfType(value, type.type, on)
  if (!(type instanceof TypeName)) throw typeError('what stands behind “isa” is not a type')
  switch (type.name) {
    case 'Number':
      return typeof value === 'bigint' || typeof value === 'number'
    case 'Integer':
      return typeof value === 'bigint'
    case 'Float':
      return typeof value === 'number'
    case 'String':
      return typeof value === 'string'
    case 'Bool':
      return typeof value === 'boolean'
    case 'Null':
      return value === null
    case 'List':
      return isList(value)
    case 'Map':
      return value !== null && isDictionary(value)
    case 'Element':
      return value instanceof ElementValue
    case 'Instance':
      return value instanceof ElementValue && value.type !== undefined
    case 'Document':
      return value instanceof ElementValue && value.node.tagName === 'html'
    case 'Class':
      return value instanceof ClassValue
    case 'Selector':
      return value instanceof SelectorValue
    case 'Temporal':
      return value instanceof TemporalValue
  }
  return value instanceof TemporalValue && value.typeName === type.name
}

function isOfType(value: Value, type: string, on: Evaluation): boolean {
  // A selector that was imported is made of its class (SES-129).
  if (value instanceof SelectorValue) return type === `${on.host.ns}/Selector`
  if (!(value instanceof ElementValue)) return false
  on.spend((attribute(value.node, 'itemtype')?.length ?? 0) >> 4)
  const types = value.type === undefined ? typesOf(value.node) : [value.type]
  return types.some(own => on.host.schemas.isa(own, type))
}
