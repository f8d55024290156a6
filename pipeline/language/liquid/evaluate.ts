/** Evaluation of expressions with their filters. */

import { FilterError } from './error.ts'
import type { Expression, Filtered, FilterUse } from './expression.ts'
import type { FilterCall } from './filters/call.ts'
import { FILTERS } from './filters/filters.ts'
import { compare, comparing } from './operators.ts'
import type { Run } from './run.ts'
import { isNumber, isTruthy, type LiquidValue, numberIn, plain, Range, Safe } from './values.ts'
import { Pending, ready, type Work, withoutPause } from './work.ts'

/** @throws Pending when a value is not there yet, FilterError, AllowanceSpent */
export function evaluate(expression: Expression, run: Run): LiquidValue {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'path': {
      const { root, keys } = expression
      let value = typeof root === 'string' ? (root === '' ? null : run.lookup(root)) : evaluate(root, run)
      let from = 0
      if (root === '' && keys[0] !== undefined) {
        value = run.lookup(run.text(keyOf(keys[0], run)))
        from = 1
      }
      for (let i = from; i < keys.length && value !== null; i++) {
        const key = keys[i]
        if (key !== undefined) value = run.member(value, keyOf(key, run))
      }
      return value
    }
    case 'range':
      return new Range(bound(expression.first, run), bound(expression.last, run))
    default:
      return withoutPause(operating(expression, run), () => undefined)
  }
}

/** An expression in turns: each of its operators may go through long texts and lists. */
function* operating(expression: Expression, run: Run): Work<LiquidValue> {
  if (expression.kind !== 'operation') return yield* ready(() => evaluate(expression, run))
  const { operator, left, right } = expression
  const first = operand(left, run)
  const value = isLate(first) ? yield* settling(left, first, run) : first
  // The result is a boolean, as with every other operator.
  if (operator === 'and' && !isTruthy(value)) return false
  if (operator === 'or' && isTruthy(value)) return true
  const second = operand(right, run)
  const other = isLate(second) ? yield* settling(right, second, run) : second
  if (operator === 'and' || operator === 'or') return isTruthy(other)
  if (run.isDue()) yield undefined
  return compare(operator, value, other, run) ?? (yield* comparing(operator, value, other, run))
}

/** What a literal or a name stands for, without the cost of turns, or what it waits for; undefined for operations. */
function operand(expression: Expression, run: Run): LiquidValue | Pending | undefined {
  if (expression.kind === 'operation') return undefined
  try {
    return evaluate(expression, run)
  } catch (error) {
    if (error instanceof Pending) return error
    throw error
  }
}

function isLate(value: LiquidValue | Pending | undefined): value is Pending | undefined {
  return value === undefined || value instanceof Pending
}

function* settling(expression: Expression, pending: Pending | undefined, run: Run): Work<LiquidValue> {
  if (pending) yield pending.promise
  return yield* operating(expression, run)
}

function keyOf(key: Expression | string, run: Run): LiquidValue {
  return typeof key === 'string' ? key : evaluate(key, run)
}

function bound(expression: Expression, run: Run): bigint {
  const value = plain(evaluate(expression, run))
  const number = isNumber(value) ? value : typeof value === 'string' ? numberIn(value) : undefined
  return number === undefined ? 0n : typeof number === 'bigint' ? number : BigInt(Math.trunc(number))
}

/** Filters of one expression, and arguments of each, that are evaluated at once: each may go through a long text. */
const FEW = 2

/** UTF-16 code units of a text behind which the next filter can wait. */
const LONG = 16 * 1024

/** Whether evaluation may take turns; other expressions are evaluated at once. */
export function takesTurns({ input, filters }: Filtered): boolean {
  return input.kind === 'operation' || filters.length > FEW || filters.some(use => hasMany(use) || isWork(use))
}

function isWork({ name }: FilterUse): boolean {
  return FILTERS.get(name)?.work !== undefined
}

function hasMany({ args, named }: FilterUse): boolean {
  return args.length + named.length > FEW
}

/** As `evaluate`, for an expression that does not take turns. */
export function evaluateFiltered({ input, filters }: Filtered, run: Run): LiquidValue {
  let value = evaluate(input, run)
  for (const use of filters) {
    const call = callOf(use, value, run)
    const { now } = filterOf(use)
    if (now) value = now(call)
  }
  return value
}

/** @throws FilterError, AllowanceSpent */
export function* evaluating(filtered: Filtered, run: Run): Work<LiquidValue> {
  const { input, filters } = filtered
  let value = yield* operating(input, run)
  for (const use of filters) {
    const { now, work } = filterOf(use)
    const before = value
    const call = yield* hasMany(use) ? calling(use, before, run) : ready(() => callOf(use, before, run))
    value = work ? yield* working(work, call) : now ? yield* ready(() => now(call)) : value
    const text = value instanceof Safe ? value.text : value
    if (run.isDue() || (typeof text === 'string' && text.length > LONG)) yield undefined
  }
  return value
}

/** A filter that meets a value which is not there yet begins anew when it is. */
function* working(work: (call: FilterCall) => Work<LiquidValue>, call: FilterCall): Work<LiquidValue> {
  for (;;) {
    try {
      return yield* work(call)
    } catch (error) {
      if (!(error instanceof Pending)) throw error
      yield error.promise
    }
  }
}

function filterOf({ name }: FilterUse) {
  const filter = FILTERS.get(name)
  if (!filter) throw new FilterError(`There is no filter ${name.slice(0, 60)}.`)
  return filter
}

function callOf(use: FilterUse, input: LiquidValue, run: Run): FilterCall {
  run.step()
  const named = new Map<string, LiquidValue>()
  for (const [name, value] of use.named) named.set(name, evaluate(value, run))
  return { run, name: use.name, input, args: use.args.map(arg => evaluate(arg, run)), named, evaluating }
}

/** The same in turns. */
function* calling(use: FilterUse, input: LiquidValue, run: Run): Work<FilterCall> {
  const call = callOf({ ...use, args: [], named: [] }, input, run)
  const named = new Map<string, LiquidValue>()
  for (const [name, value] of use.named) named.set(name, yield* argument(value, run))
  const args: LiquidValue[] = []
  for (const value of use.args) args.push(yield* argument(value, run))
  return { ...call, args, named }
}

function* argument(value: Expression, run: Run): Work<LiquidValue> {
  if (run.isDue()) yield undefined
  return yield* ready(() => evaluate(value, run))
}
