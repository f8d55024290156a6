/** Calls of filters, and the coercions of their inputs and arguments (LIQ-37, LIQ-38). */

import { FilterError } from '../error.ts'
import type { Filtered } from '../expression.ts'
import { numbersOf } from '../json.ts'
import type { Run } from '../run.ts'
import { isList, type LiquidValue, numberIn, plain, Range } from '../values.ts'
import type { Work } from '../work.ts'

export interface FilterCall {
  run: Run
  name: string
  input: LiquidValue
  args: readonly LiquidValue[]
  named: ReadonlyMap<string, LiquidValue>
  /** Evaluates a predicate (LIQ-43). */
  evaluating: (filtered: Filtered, run: Run) => Work<LiquidValue>
}

/** A filter is evaluated at once, or takes turns. */
export type Filters = Record<string, (call: FilterCall) => LiquidValue>
export type WorkFilters = Record<string, (call: FilterCall) => Work<LiquidValue>>

export function fail({ name }: Pick<FilterCall, 'name'>, reason: string): FilterError {
  return new FilterError(`${name}: ${reason}`)
}

/** Elements that a list filter visits between two turns. */
export const PER_TURN = 500

export function inputText({ run, input }: FilterCall): string {
  return run.text(input)
}

/** UTF-16 code units that a filter may go through: a few milliseconds, in which nobody else has a turn (LIQ-71). */
const MAX_SCANNED = 512 * 1024

/**
 * The input of a filter that goes through it character by character.
 *
 * @throws AllowanceSpent when it is too long for one turn
 */
export function scannedText(call: FilterCall): string {
  return scanned(inputText(call), call.run)
}

/**
 * A text that is gone through character by character.
 *
 * @throws AllowanceSpent when it is too long for one turn
 */
export function scanned(text: string, { allowance }: Run): string {
  if (text.length > MAX_SCANNED) allowance.take(allowance.memoryLeft + 1)
  // A step for what a loop does with a line of text.
  allowance.step(1 + (text.length >> 7))
  return text
}

/** @throws FilterError when there is no such argument */
export function required(call: FilterCall, index: number): LiquidValue {
  if (index >= call.args.length) throw fail(call, `argument ${index + 1} is missing.`)
  return call.args[index] ?? null
}

export function textArgument(call: FilterCall, index: number, otherwise?: string): string {
  if (otherwise !== undefined && index >= call.args.length) return otherwise
  return call.run.text(required(call, index))
}

/** A number, or 0 for what is none (LIQ-37). */
export function numberOf(value: LiquidValue): bigint | number {
  const bare = plain(value)
  if (typeof bare === 'bigint' || typeof bare === 'number') return bare
  return typeof bare === 'string' ? (numberIn(bare) ?? 0n) : 0n
}

/** A whole number within the safe range, for counts and places. */
export function countArgument(call: FilterCall, index: number, otherwise?: number): number {
  if (otherwise !== undefined && index >= call.args.length) return otherwise
  const bare = plain(required(call, index))
  const number = typeof bare === 'string' ? numberIn(bare) : bare
  if (typeof number !== 'bigint' && typeof number !== 'number') throw fail(call, `argument ${index + 1} is no number.`)
  const whole = Math.trunc(Number(number))
  if (!Number.isSafeInteger(whole)) throw fail(call, `argument ${index + 1} is out of range.`)
  return whole
}

/** The input as an array (LIQ-37); what is made for it counts. */
export function inputList({ run, input }: FilterCall): Work<readonly LiquidValue[]> {
  return listOf(input, run)
}

export function* listOf(value: LiquidValue, run: Run): Work<readonly LiquidValue[]> {
  const bare = plain(value)
  if (bare === null) return []
  if (isList(bare)) return bare
  if (!(bare instanceof Range)) return [value]
  if (bare.size > BigInt(Number.MAX_SAFE_INTEGER)) run.allowance.take(Number.POSITIVE_INFINITY)
  run.allowance.take(Number(bare.size) * 16)
  run.step(Number(bare.size))
  const numbers: LiquidValue[] = []
  for (const number of numbersOf(bare)) if (numbers.push(number) % NUMBERS_PER_TURN === 0) yield undefined
  return numbers
}

/** Numbers that are made between two turns. */
const NUMBERS_PER_TURN = 10_000
