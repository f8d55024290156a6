/** Numbers (SES-50, SES-51): integers of 64 bits that never wrap, floats that are always finite. */

import type { Value } from '../values.ts'
import type { Spend } from './comparison.ts'
import { runtimeError, typeError } from './evaluation.ts'
import { textForm } from './text-form.ts'

const MAX = 9_223_372_036_854_775_807n
const MIN = -MAX - 1n

export function integer(value: bigint): bigint {
  if (value > MAX || value < MIN) throw runtimeError('integer overflow', 'limit')
  return value
}

export function float(value: number): number {
  if (!Number.isFinite(value)) throw runtimeError('float overflow', 'limit')
  return value
}

export function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

export type Arithmetic = '+' | '-' | '*' | '/'

export function calculate(operator: Arithmetic, a: Value, b: Value, spend: Spend): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return ofIntegers(operator, a, b)
  if (!isNumber(a) || !isNumber(b)) {
    const culprit = textForm(isNumber(a) ? b : a, spend)
    throw typeError(`cannot use '${culprit.slice(0, 80)}' in arithmetic`)
  }
  const x = Number(a)
  const y = Number(b)
  switch (operator) {
    case '+':
      return float(x + y)
    case '-':
      return float(x - y)
    case '*':
      return float(x * y)
    case '/':
      if (y === 0) throw runtimeError('division by zero')
      return float(x / y)
  }
}

function ofIntegers(operator: Arithmetic, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return integer(a + b)
    case '-':
      return integer(a - b)
    case '*':
      return integer(a * b)
    case '/':
      if (b === 0n) throw runtimeError('division by zero')
      return integer(a / b)
  }
}

export function negate(value: Value, spend: Spend): Value {
  if (typeof value === 'bigint') return integer(-value)
  if (typeof value === 'number') return -value
  throw typeError(`cannot use '${textForm(value, spend).slice(0, 80)}' in arithmetic`)
}

/**
 * A float as an integer.
 *
 * @param value without fraction
 */
export function fromFloat(value: number): bigint {
  return integer(BigInt(value))
}
