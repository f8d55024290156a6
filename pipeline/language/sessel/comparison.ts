/** Truth, equality and order of values, and how much of them is looked at (SES-52, SES-53, SES-61). */

import type { Steps } from '../../tree/steps.ts'
import {
  type Dictionary,
  ElementValue,
  isDictionary,
  isList,
  LazyDictionary,
  type List,
  NamedValue,
  type Value,
} from '../values.ts'
import { SesselError } from './failure.ts'
import { compareTemporal, TemporalValue } from './temporal-value.ts'

/** Told of every value that is looked at: what has no end runs out of steps. */
export type Spend = (steps: number) => void

/** Lists and dictionaries inside each other that are looked through. */
export const MAX_DEPTH = 500

export function tooDeep(): SesselError {
  return new SesselError('RuntimeError', `a value is nested deeper than ${MAX_DEPTH} levels`, 'limit')
}

/** UTF-16 code units of one text: what is done with it at once has to be done soon. */
export const MAX_TEXT = 16 * 1024 * 1024

export function tooLong(most = MAX_TEXT): SesselError {
  return new SesselError('RuntimeError', `a text is longer than ${most} characters`, 'limit')
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

/** Values that are compared in one step. */
const VALUES_PER_STEP = 1_000

/** SES-52, of values that hold no others. @returns undefined for two Lists or Dictionaries */
export function isEqual(a: Value, b: Value, spend: Spend): boolean | undefined {
  // Texts of one length are gone through as far as they are alike.
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) spend(a.length >> PER_STEP)
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
  return (isList(a) && isList(b)) || (isDictionary(a) && isDictionary(b)) ? undefined : false
}

/** SES-52, in steps. */
export function* comparing(a: Value, b: Value, spend: Spend): Steps<boolean> {
  let compared = 0

  function* areEqual(one: Value, other: Value, depth: number): Steps<boolean> {
    if (++compared % VALUES_PER_STEP === 0) yield
    const known = isEqual(one, other, spend)
    if (known !== undefined) return known
    if (depth === MAX_DEPTH) throw tooDeep()
    return isList(one as List | Dictionary)
      ? yield* ofLists(one as List, other as List, depth)
      : yield* ofDictionaries(one as Dictionary, other as Dictionary, depth)
  }

  function* ofLists(one: List, other: List, depth: number): Steps<boolean> {
    if (one.length !== other.length) return false
    spend(one.length)
    for (let at = 0; at < one.length; at++) {
      if (!(yield* areEqual(one[at] ?? null, other[at] ?? null, depth + 1))) return false
    }
    return true
  }

  function* ofDictionaries(one: Dictionary, other: Dictionary, depth: number): Steps<boolean> {
    if (one instanceof Map && other instanceof Map && one.size !== other.size) return false
    const keys = [...one.keys()]
    const others = other instanceof Map ? other.size : [...other.keys()].length
    spend(keys.length + (other instanceof Map ? 0 : others))
    if (keys.length !== others) return false
    for (const key of keys) {
      const value = other.get(key)
      if (value === undefined || !(yield* areEqual(one.get(key) ?? null, value, depth + 1))) return false
    }
    return true
  }

  return yield* areEqual(a, b, 0)
}

/** The engine compares whole stretches of texts many times as fast as their code units. */
const STRETCH = 1_024

/** Code units that are compared for a step, as a power of two. */
const PER_STEP = 9

/** Order of strings by code point, whatever their UTF-16 units are. */
function compareText(a: string, b: string, spend: Spend): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at + STRETCH <= length && a.slice(at, at + STRETCH) === b.slice(at, at + STRETCH)) at += STRETCH
  spend(at >> PER_STEP)
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
export function compare(a: Value, b: Value, spend: Spend): -1 | 0 | 1 | undefined {
  if ((typeof a === 'bigint' || typeof a === 'number') && (typeof b === 'bigint' || typeof b === 'number'))
    return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b, spend) as -1 | 0 | 1
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
