/** Stable sorting that can be left at every comparison (SES-82): what compares may be a function of the program. */

import type { List, Value } from '../values.ts'
import { isNumber } from './arithmetic.ts'
import { compare, typeOf } from './comparison.ts'
import { type Evaluation, typeError, type Work } from './evaluation.ts'
import type { Lambda } from './kinds.ts'

/** @param fn gives keys if it has one parameter, compares if it has two */
export function* sorting(list: List, fn: Lambda | undefined, on: Evaluation): Work {
  if (fn && fn.code.parameters >= 2) {
    return yield* merging(list, (a, b) => askingOrder(fn, a, b, on))
  }
  const keyed: { key: Value; item: Value }[] = []
  for (const item of list) keyed.push({ key: fn ? yield on.call(fn, [item]) : item, item })
  const sorted = yield* merging(keyed, (a, b) => comparing(a.key, b.key, on))
  return sorted.map(({ item }) => item)
}

/** What the function of a program says of two items. */
function* askingOrder(fn: Lambda, a: Value, b: Value, on: Evaluation): Work<number> {
  const order = yield on.call(fn, [a, b])
  if (order === null) return 0
  if (!isNumber(order)) throw typeError(`a comparison gives a number, not a ${typeOf(order)}`)
  return Number(order)
}

function* comparing(a: Value, b: Value, on: Evaluation): Work<number> {
  on.spend(1)
  if (on.isDue) yield undefined
  return orderOfKeys(a, b, on)
}

/** `null` comes first. */
function orderOfKeys(a: Value, b: Value, on: Evaluation): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return compare(a, b, on.spend) ?? 0
}

/** Merge sort from runs of one on. */
function* merging<T>(list: readonly T[], order: (a: T, b: T) => Work<number>): Work<T[]> {
  let from = [...list]
  let into: T[] = new Array(from.length)
  for (let width = 1; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length)
      const end = Math.min(start + 2 * width, from.length)
      let left = start
      let right = middle
      for (let at = start; at < end; at++) {
        const isLeft = left < middle && (right >= end || (yield* order(from[left] as T, from[right] as T)) <= 0)
        into[at] = from[isLeft ? left++ : right++] as T
      }
    }
    ;[from, into] = [into, from]
  }
  return from
}
