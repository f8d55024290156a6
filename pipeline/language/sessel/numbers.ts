/** Methods of numbers (SES-70), and random ones. */

import { randomBytes } from 'node:crypto'
import type { Value } from '../values.ts'
import { fromFloat, integer } from './arithmetic.ts'
import { typeError } from './evaluation.ts'
import type { Method, Methods } from './method.ts'

type Number_ = bigint | number

function rounding(round: (value: number) => number): Method {
  return {
    least: 0,
    most: 0,
    run: (value: Number_) => (typeof value === 'bigint' ? value : fromFloat(round(value))),
  }
}

export const NUMBER_METHODS: Methods = new Map<string, Method>([
  [
    'abs',
    {
      least: 0,
      most: 0,
      run: (value: Number_) => {
        if (typeof value === 'number') return Math.abs(value)
        return value < 0n ? integer(-value) : value
      },
    },
  ],
  ['floor', rounding(Math.floor)],
  ['ceil', rounding(Math.ceil)],
  ['round', rounding(awayFromZero)],
])

/** Ties go away from zero; the fraction is looked at, because adding a half rounds by itself. */
function awayFromZero(value: number): number {
  const whole = Math.trunc(value)
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
}

/** `Integer.random(a, b)`: both ends count. */
export function randomInteger(a: Value, b: Value): bigint {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') throw typeError('“random” takes two Integers')
  const [low, high] = a < b ? [a, b] : [b, a]
  const size = high - low + 1n
  // Two to the 64 is a multiple of no other size; draws beyond the last whole multiple are made again.
  const limit = (1n << 64n) - ((1n << 64n) % size)
  for (;;) {
    const drawn = randomBytes(8).readBigUInt64BE()
    if (drawn < limit) return low + (drawn % size)
  }
}

/** `Float.random(a, b)`: the upper end does not count. */
export function randomFloat(a: Value, b: Value): number {
  const isNumeric = (value: Value) => typeof value === 'bigint' || typeof value === 'number'
  if (!isNumeric(a) || !isNumeric(b)) throw typeError('“random” takes two numbers')
  const [x, y] = [Number(a), Number(b)]
  const [low, high] = x < y ? [x, y] : [y, x]
  const part = Number(randomBytes(8).readBigUInt64BE() >> 11n) / 2 ** 53
  // Halves keep the distance of the ends finite, and rounding keeps off the upper one.
  const drawn = low * (1 - part) + high * part
  return drawn < high || low === high ? Math.max(low, drawn) : low
}
