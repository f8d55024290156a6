/** Conversions between types (SES-62, SES-63). */

import type { Value } from '../values.ts'
import { float, fromFloat, integer } from './arithmetic.ts'
import { isTruthy, typeOf } from './comparison.ts'
import { typeError } from './evaluation.ts'
import type { Method, Methods } from './method.ts'
import { joined } from './text-form.ts'

const NUMERIC = /^-?[0-9]+(\.[0-9]+)?$/

/** More digits than any finite float or integer has. */
const MOST_DIGITS = 2_000

/** The number that a text says, an Integer unless it has a point; null for another text. */
export function numberOf(text: string): bigint | number | null {
  if (text.length > MOST_DIGITS) return null
  const parts = NUMERIC.exec(text)
  if (!parts) return null
  if (parts[1] !== undefined) {
    const value = Number(text)
    return Number.isFinite(value) ? value : null
  }
  const value = BigInt(text)
  return BigInt.asIntN(64, value) === value ? value : null
}

function toInteger(value: Value): Value {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return fromFloat(Math.trunc(value))
  const number = typeof value === 'string' ? numberOf(value) : null
  if (typeof number === 'bigint') return number
  // A whole number beyond 64 bits is one that overflows.
  if (typeof value === 'string' && value.length <= MOST_DIGITS && /^-?[0-9]+$/.test(value))
    return integer(BigInt(value))
  throw typeError(`${described(value)} is not an Integer`)
}

function toFloat(value: Value): Value {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' && value.length <= MOST_DIGITS && NUMERIC.test(value)) return float(Number(value))
  throw typeError(`${described(value)} is not a Float`)
}

function described(value: Value): string {
  return typeof value === 'string' ? `“${value.slice(0, 80)}”` : `a ${typeOf(value)}`
}

function conversion(run: Method['run']): Method {
  return { least: 0, most: 0, run }
}

export const CONVERSIONS: Methods = new Map([
  [
    'Number',
    conversion((value: Value) => {
      if (typeof value === 'bigint' || typeof value === 'number') return value
      return typeof value === 'string' ? numberOf(value) : null
    }),
  ],
  ['Integer', conversion(toInteger)],
  ['Float', conversion(toFloat)],
  ['Bool', conversion((value: Value) => isTruthy(value))],
  ['String', conversion((value: Value, _, on) => joined([value], '', on))],
])
