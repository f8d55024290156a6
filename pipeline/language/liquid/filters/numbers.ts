/** Filters of numbers: Integers stay Integers, Floats stay Floats (LIQ-14, LIQ-37, section 10). */

import { isNumber, type LiquidValue, MAX_INTEGER, MIN_INTEGER, numberIn, plain } from '../values.ts'
import { countArgument, type FilterCall, type Filters, fail, numberOf, required } from './call.ts'

export const NUMBER_FILTERS: Filters = {
  plus: call =>
    arithmetic(
      call,
      (a, b) => a + b,
      (a, b) => a + b,
    ),
  minus: call =>
    arithmetic(
      call,
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  times: call =>
    arithmetic(
      call,
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  divided_by: call => {
    const divisor = numberOf(required(call, 0))
    const input = numberOf(call.input)
    if (Number(divisor) === 0) return call.input
    if (typeof input === 'bigint' && typeof divisor === 'bigint') return integer(call, floorDivided(input, divisor))
    return float(call, Number(input) / Number(divisor))
  },
  modulo: call => {
    const divisor = numberOf(required(call, 0))
    const input = numberOf(call.input)
    if (Number(divisor) === 0) return call.input
    if (typeof input === 'bigint' && typeof divisor === 'bigint') {
      return input - floorDivided(input, divisor) * divisor
    }
    const rest = Number(input) % Number(divisor)
    return float(call, rest !== 0 && rest < 0 !== Number(divisor) < 0 ? rest + Number(divisor) : rest)
  },
  abs: call => {
    const input = numberOf(call.input)
    return typeof input === 'bigint' ? integer(call, input < 0n ? -input : input) : Math.abs(input)
  },
  at_least: call => {
    const least = numberOf(required(call, 0))
    const input = numberOf(call.input)
    if (input >= least) return input
    return least
  },
  at_most: call => {
    const most = numberOf(required(call, 0))
    const input = numberOf(call.input)
    if (input <= most) return input
    return most
  },
  ceil: call => whole(call, Math.ceil),
  floor: call => whole(call, Math.floor),
  round: call => {
    const places = countArgument(call, 0, 0)
    const input = numberOf(call.input)
    if (places < 0) return integer(call, BigInt(rounded(Number(input), places)))
    if (places === 0) return whole(call, value => rounded(value, 0))
    return typeof input === 'bigint' ? Number(input) : float(call, rounded(input, places))
  },
  to_integer: ({ input }) => {
    const bare = plain(input)
    if (bare === true) return 1n
    const number = isNumber(bare) ? bare : typeof bare === 'string' ? numberIn(bare) : undefined
    if (number === undefined) return 0n
    const value = typeof number === 'bigint' ? number : BigInt(Math.trunc(number))
    return value > MAX_INTEGER ? MAX_INTEGER : value < MIN_INTEGER ? MIN_INTEGER : value
  },
}

function arithmetic(
  call: FilterCall,
  integers: (a: bigint, b: bigint) => bigint,
  floats: (a: number, b: number) => number,
): LiquidValue {
  const other = numberOf(required(call, 0))
  const input = numberOf(call.input)
  if (typeof input === 'bigint' && typeof other === 'bigint') return integer(call, integers(input, other))
  return float(call, floats(Number(input), Number(other)))
}

function integer(call: FilterCall, value: bigint): bigint {
  if (value > MAX_INTEGER || value < MIN_INTEGER) throw fail(call, 'the result does not fit into 64 bits.')
  return value
}

function float(call: FilterCall, value: number): number {
  if (!Number.isFinite(value)) throw fail(call, 'the result is no number.')
  return value
}

function floorDivided(input: bigint, divisor: bigint): bigint {
  const quotient = input / divisor
  return input % divisor !== 0n && input < 0n !== divisor < 0n ? quotient - 1n : quotient
}

function whole(call: FilterCall, round: (value: number) => number): LiquidValue {
  const input = numberOf(call.input)
  return typeof input === 'bigint' ? input : integer(call, BigInt(round(input)))
}

/** Half away from zero; decimal places are shifted in the decimal text, where 1.005 is what was written. */
function rounded(value: number, places: number): number {
  if (Math.abs(places) > 300) return places > 0 ? value : 0
  const shifted = Number(`${Math.abs(value)}e${places}`)
  // A number that is written with an exponent has no digits to round that far behind the point.
  if (Number.isNaN(shifted)) return Math.abs(value) < 1 && places < 300 ? exponentRounded(value, places) : value
  return Math.sign(value) * Number(`${Math.round(shifted)}e${-places}`)
}

function exponentRounded(value: number, places: number): number {
  const factor = 10 ** places
  return (Math.sign(value) * Math.round(Math.abs(value) * factor)) / factor
}
