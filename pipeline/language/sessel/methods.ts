/** Which method answers a call (SES-36, SES-45, SES-175). */

import { ElementValue, isList, NamedValue, type Value } from '../values.ts'
import { isNumber } from './arithmetic.ts'
import { callClass } from './classes.ts'
import { typeOf } from './comparison.ts'
import { CONVERSIONS } from './conversions.ts'
import { DICTIONARY_METHODS } from './dictionaries.ts'
import { ELEMENT_METHODS } from './elements.ts'
import { type Evaluation, type Given, typeError } from './evaluation.ts'
import { callInstance } from './instances.ts'
import { Blob, ClassValue, SelectorValue, TypeName } from './kinds.ts'
import { LIST_METHODS } from './lists.ts'
import { countArguments, type Method, type Methods } from './method.ts'
import { NUMBER_METHODS } from './numbers.ts'
import { STRING_METHODS } from './strings.ts'
import { callTemporal } from './temporal.ts'
import { TemporalValue } from './temporal-value.ts'
import { BLOB_METHODS, callType, SELECTOR_METHODS } from './type-methods.ts'

/** What every value but null has: conversions, and itself as first and last (SES-80). */
const OF_ALL: Methods = new Map<string, Method>([
  ...CONVERSIONS,
  ['first', { least: 0, most: 0, run: receiver => receiver }],
  ['last', { least: 0, most: 0, run: receiver => receiver }],
])

const NONE: Methods = new Map()

/**
 * Calls a method.
 *
 * @param receiver not null: what follows a null is not called
 * @throws SesselError for a method that there is not, or other arguments than it takes
 */
export function callMethod(receiver: Value, name: string, args: Value[], on: Evaluation): Given {
  if (receiver instanceof ElementValue && receiver.type !== undefined) {
    const given = callInstance(receiver, name, args, on)
    if (given !== undefined) return given
  }
  if (receiver instanceof ClassValue) return callClass(receiver, name, args, on)
  if (receiver instanceof TypeName) return callType(receiver, name, args, on)
  const method = methodsOf(receiver).get(name) ?? OF_ALL.get(name)
  if (!method) {
    if (receiver instanceof TemporalValue) return callTemporal(receiver, name, args, on)
    throw typeError(`a ${typeOf(receiver)} has no method “${name}”`)
  }
  countArguments(name, method, args)
  return method.run(receiver as never, args, on)
}

function methodsOf(receiver: Value): Methods {
  if (typeof receiver === 'string') return STRING_METHODS
  if (isNumber(receiver)) return NUMBER_METHODS
  if (receiver === null || typeof receiver === 'boolean') return NONE
  if (isList(receiver)) return LIST_METHODS
  if (receiver instanceof ElementValue) return ELEMENT_METHODS
  if (receiver instanceof SelectorValue) return SELECTOR_METHODS
  if (receiver instanceof Blob) return BLOB_METHODS
  return receiver instanceof NamedValue ? NONE : DICTIONARY_METHODS
}

/** Calls `name(…)` where the name means no lambda (SES-36). */
export function callByName(name: string, callee: Value, args: Value[], on: Evaluation): Given {
  if (callee instanceof TypeName) {
    const [value = null] = args
    if (args.length !== 1) throw typeError(`“${name}” takes one argument`)
    if (value === null) return null
    if (callee.name === 'size') return callMethod(value, 'count', [], on)
    if (CONVERSIONS.has(callee.name)) return callMethod(value, callee.name, [], on)
  }
  throw typeError(`“${name}” is a ${typeOf(callee)} and cannot be called`)
}
