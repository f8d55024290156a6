/** Truth, equality and order of values, and how much of them is looked at (SES-52, SES-53, SES-61). */

import { ElementValue, isDictionary, isList, LazyDictionary, NamedValue, type Value } from '../values.ts'
import { SesselError } from './failure.ts'
import { compareTemporal, TemporalValue } from './temporal-value.ts'

/** Told of every value that is looked at: what has no end runs out of steps. */
export type Spend = (steps: number) => void

/** Lists and dictionaries inside each other that are looked through. */
export const MAX_DEPTH = 500

export function tooDeep(): SesselError {
  return new SesselError('RuntimeError', `a value is nested deeper than ${MAX_DEPTH} levels`)
}

/** UTF-16 code units of one text: what is done with it at once has to be done soon. */
export const MAX_TEXT = 16 * 1024 * 1024

export function tooLong(most = MAX_TEXT): SesselError {
  return new SesselError('RuntimeError', `a text is longer than ${most} characters`)
}

/** SES-61. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'bigint':
      return value !== 0n
    case 'number':
      return value !== 0
    case 'string':
      return value !== ''
  }
  if (value === null) return false
  if (isList(value)) return value.length > 0
  if (value instanceof Map) return value.size > 0
  if (value instanceof LazyDictionary) return !value.keys()[Symbol.iterator]().next().done
  return true
}

/** SES-52. */
export function isEqual(a: Value, b: Value, spend: Spend, depth = 0): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  if (typeof a !== 'object' || typeof b !== 'object') {
    // Integer and Float are compared as numbers, exactly.
    const isMixed = (typeof a === 'bigint' && typeof b === 'number') || (typeof a === 'number' && typeof b === 'bigint')
    return isMixed && !(a < b) && !(a > b)
  }
  if (a instanceof ElementValue) return b instanceof ElementValue && a.node === b.node
  if (a instanceof TemporalValue) return b instanceof TemporalValue && a.equals(b)
  if (a instanceof NamedValue) {
    return (
      b instanceof NamedValue && a.constructor === b.constructor && a.typeName !== 'Lambda' && a.text() === b.text()
    )
  }
  if (depth === MAX_DEPTH) throw tooDeep()
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false
    spend(a.length)
    return a.every((item, at) => isEqual(item, b[at] ?? null, spend, depth + 1))
  }
  if (!isDictionary(a) || !isDictionary(b)) return false
  const keys = [...a.keys()]
  spend(keys.length)
  if (keys.length !== [...b.keys()].length) return false
  return keys.every(key => {
    const other = b.get(key)
    return other !== undefined && isEqual(a.get(key) ?? null, other, spend, depth + 1)
  })
}

/** Order of strings by code point, whatever their UTF-16 units are. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return Math.sign(a.length - b.length)
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at)) < 0 ? -1 : 1
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}

/**
 * SES-53: the order of two values.
 *
 * @returns -1, 0 or 1; undefined where a value is null
 * @throws SesselError for values that have no order
 */
export function compare(a: Value, b: Value): -1 | 0 | 1 | undefined {
  if ((typeof a === 'bigint' || typeof a === 'number') && (typeof b === 'bigint' || typeof b === 'number'))
    return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b) as -1 | 0 | 1
  if (a === null || b === null) return undefined
  if (a instanceof TemporalValue && b instanceof TemporalValue && a.typeName === b.typeName) {
    const order = compareTemporal(a, b)
    if (order !== undefined) return order
  }
  throw new SesselError('TypeError', `type error: ${typeOf(a)} and ${typeOf(b)} have no order`)
}

/** The name of a value's type, for messages. */
export function typeOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'String'
    case 'bigint':
      return 'Integer'
    case 'number':
      return 'Float'
    case 'boolean':
      return 'Boolean'
  }
  if (value === null) return 'Null'
  if (value instanceof ElementValue) return value.type === undefined ? 'Element' : 'Instance'
  if (value instanceof NamedValue) return value.typeName
  return isList(value) ? 'List' : 'Dictionary'
}
