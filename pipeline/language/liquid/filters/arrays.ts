/** Filters of arrays (LIQ-37, LIQ-39, section 11). They take turns: their inputs may be long. */

import { randomInt } from 'node:crypto'
import { textKey } from '../../../tree/text-key.ts'
import { ElementValue } from '../../values.ts'
import { byCodePoint, equaling } from '../compare.ts'
import type { Run } from '../run.ts'
import { isHash, isList, isNumber, isTruthy, type LiquidValue, numberIn, plain, Range } from '../values.ts'
import { ready, type Work } from '../work.ts'
import {
  countArgument,
  type FilterCall,
  fail,
  inputList,
  listOf,
  numberOf,
  PER_TURN,
  required,
  scanned,
  textArgument,
  type WorkFilters,
} from './call.ts'
import { sorting } from './sort.ts'

export const ARRAY_FILTERS: WorkFilters = {
  first(call) {
    return end(
      call,
      list => list[0],
      text => [...text.slice(0, 2)][0],
    )
  },
  last(call) {
    return end(
      call,
      list => list.at(-1),
      text => [...text.slice(-2)].at(-1),
    )
  },
  *reverse(call) {
    return (yield* copied(call)).reverse()
  },
  *concat(call) {
    const list = yield* inputList(call)
    const other = yield* listOf(required(call, 0), call.run)
    count(call, list.length + other.length)
    return [...list, ...other]
  },
  *push(call) {
    return [...(yield* copied(call)), required(call, 0)]
  },
  *unshift(call) {
    return [required(call, 0), ...(yield* copied(call))]
  },
  *pop(call) {
    return (yield* copied(call)).slice(0, -1)
  },
  *shift(call) {
    return (yield* copied(call)).slice(1)
  },
  *sample(call) {
    call.run.allowance.readFleeting()
    const list = yield* copied(call)
    const many = call.args.length > 0
    const most = Math.min(countArgument(call, 0, 1), list.length)
    const chosen: LiquidValue[] = []
    for (let i = 0; i < most; i++) {
      const at = i + randomInt(list.length - i)
      chosen.push(list[at] ?? null)
      list[at] = list[i] ?? null
      yield* turn(call, chosen)
    }
    return many ? chosen : (chosen[0] ?? null)
  },
  *compact(call) {
    const field = optionalField(call)
    const kept: LiquidValue[] = []
    for (const value of yield* visited(call)) {
      const looked = field === undefined ? value : yield* fieldOf(value, field, call.run)
      if (plain(looked) !== null) kept.push(value)
      yield* turn(call, kept)
    }
    return kept
  },
  *uniq(call) {
    const field = optionalField(call)
    const seen = new Set<unknown>()
    const kept: LiquidValue[] = []
    for (const value of yield* visited(call)) {
      const looked = plain(field === undefined ? value : yield* fieldOf(value, field, call.run))
      // Types differ: "1", 1 and 1.0 are three values.
      const key = keyOf(looked, call.run)
      if (!seen.has(key)) {
        seen.add(key)
        kept.push(value)
      }
      yield* turn(call, kept)
    }
    return kept
  },
  *join(call) {
    const separator = textArgument(call, 0, ' ')
    const pieces: string[] = []
    for (const value of yield* visited(call)) {
      const piece = yield* ready(() => call.run.text(value))
      call.run.allowance.take((piece.length + separator.length) * 2)
      pieces.push(piece)
      yield* turn(call, pieces)
    }
    return pieces.join(separator)
  },
  *sort(call) {
    return yield* sorting(call, yield* keyed(call, value => sortKey(firstValue(value))), rank, ascending(call.run))
  },
  *sort_natural(call) {
    const key = (value: LiquidValue) => {
      const bare = plain(firstValue(value))
      return bare === null ? null : lowerCase(bare, call.run)
    }
    return yield* sorting(call, yield* keyed(call, key), value => (value === null ? 4 : 0), ascending(call.run))
  },
  *map(call) {
    const field = textArgument(call, 0)
    const values: LiquidValue[] = []
    for (const value of yield* visited(call)) {
      values.push(yield* fieldOf(value, field, call.run))
      yield* turn(call, values)
    }
    return values
  },
  where: call => filtered(call, true),
  reject: call => filtered(call, false),
  *find(call) {
    return (yield* firstMatch(call))?.value ?? null
  },
  *find_index(call) {
    const match = yield* firstMatch(call)
    return match ? BigInt(match.index) : null
  },
  *has(call) {
    return (yield* firstMatch(call)) !== undefined
  },
  *group_by(call) {
    const field = textArgument(call, 0)
    const groups = new Groups()
    for (const value of yield* visited(call)) {
      groups.add(firstValue(yield* fieldOf(value, field, call.run)), value, call.run)
      yield* turn(call, groups.list)
    }
    return groups.list
  },
  *sum(call) {
    const field = optionalField(call)
    let whole = 0n
    let part = 0
    let visits = 0
    for (const value of yield* visited(call)) {
      const looked = firstValue(field === undefined ? value : yield* fieldOf(value, field, call.run))
      const number = numberOf(looked)
      if (typeof number === 'bigint') whole += number
      else part += number
      if (++visits % PER_TURN === 0 || call.run.isDue()) yield undefined
    }
    if (part === 0) return whole
    const total = Number(whole) + part
    if (!Number.isFinite(total)) throw fail(call, 'the result is no number.')
    return Number.isInteger(total) ? BigInt(total) : total
  },
}

/** A property of an item or a key of a hash; nil of anything else (LIQ-39). */
export function* fieldOf(value: LiquidValue, field: string, run: Run): Work<LiquidValue> {
  return isObject(value) ? yield* ready(() => run.member(value, field)) : null
}

function isObject(value: LiquidValue): boolean {
  const bare = plain(value)
  return bare instanceof ElementValue || isHash(bare)
}

/** The first value of a property with several. */
export function firstValue(value: LiquidValue): LiquidValue {
  const bare = plain(value)
  return isList(bare) ? (bare[0] ?? null) : value
}

/** Elements grouped by a key, in the order of first appearance. */
export class Groups {
  readonly list: Map<string, LiquidValue>[] = []
  readonly #items = new Map<unknown, LiquidValue[]>()

  add(name: LiquidValue, value: LiquidValue, run: Run): void {
    const bare = plain(name)
    const key = keyOf(bare, run)
    const items = this.#items.get(key)
    if (items) items.push(value)
    else {
      const first = [value]
      this.#items.set(key, first)
      this.list.push(
        new Map<string, LiquidValue>([
          ['name', bare],
          ['items', first],
        ]),
      )
    }
  }
}

/** What stands for a value in a set or map. */
function keyOf(value: LiquidValue, run: Run): unknown {
  if (value instanceof ElementValue) return value.node
  if (typeof value === 'string') run.passOver(value.length)
  return typeof value === 'string' ? textKey(value) : value
}

/** The elements of the input; every one counts before it is visited. */
export function* visited(call: FilterCall): Work<readonly LiquidValue[]> {
  const list = yield* inputList(call)
  count(call, list.length)
  return list
}

function count(call: FilterCall, elements: number): void {
  call.run.step(elements)
  call.run.allowance.take(elements * 8)
}

function* copied(call: FilterCall): Work<LiquidValue[]> {
  const list = yield* inputList(call)
  count(call, list.length)
  return [...list]
}

const visits = new WeakMap<object, number>()

/** Lets others have a turn now and then; `of` is what counts the visits. */
export function* turn({ run }: FilterCall, of: object): Work<void> {
  const number = (visits.get(of) ?? 0) + 1
  visits.set(of, number)
  if (number % PER_TURN === 0 || run.isDue()) yield undefined
}

function* end(
  call: FilterCall,
  ofList: (list: readonly LiquidValue[]) => LiquidValue | undefined,
  ofText: (text: string) => string | undefined,
): Work<LiquidValue> {
  const bare = plain(call.input)
  if (typeof bare === 'string') return ofText(bare) ?? ''
  if (bare instanceof Range) return call.run.member(bare, call.name)
  return ofList(yield* inputList(call)) ?? null
}

function optionalField(call: FilterCall): string | undefined {
  return call.args.length === 0 || plain(call.args[0] ?? null) === null ? undefined : textArgument(call, 0)
}

function* keyed(
  call: FilterCall,
  key: (value: LiquidValue) => LiquidValue,
): Work<{ key: LiquidValue; value: LiquidValue }[]> {
  const field = optionalField(call)
  const pairs: { key: LiquidValue; value: LiquidValue }[] = []
  for (const value of yield* visited(call)) {
    const looked = field === undefined ? value : yield* fieldOf(value, field, call.run)
    pairs.push({ key: yield* ready(() => key(looked)), value })
    yield* turn(call, pairs)
  }
  return pairs
}

/** The list may hold one long text many times: each lower-case copy counts. */
function lowerCase(value: LiquidValue, run: Run): string {
  const text = scanned(run.text(value), run)
  const lower = text.toLowerCase()
  return lower === text ? text : run.built(lower)
}

/** Numbers and numeric texts are sorted as numbers; the number is read once. */
function sortKey(value: LiquidValue): LiquidValue {
  const bare = plain(value)
  return typeof bare === 'string' ? (numberIn(bare) ?? bare) : bare
}

/** Kinds are grouped; what has nothing to sort on comes last. */
function rank(key: LiquidValue): number {
  if (key === null) return 4
  if (isNumber(key)) return 0
  if (typeof key === 'string') return 1
  return typeof key === 'boolean' ? 2 : 3
}

function ascending(run: Run): (a: LiquidValue, b: LiquidValue) => number {
  return (a, b) => {
    if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0
    if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b, run)
    return typeof a === 'boolean' && typeof b === 'boolean' ? Number(a) - Number(b) : 0
  }
}

function* filtered(call: FilterCall, wanted: boolean): Work<LiquidValue> {
  const field = textArgument(call, 0)
  const kept: LiquidValue[] = []
  const list = yield* visited(call)
  let number = 0
  for (const value of list) {
    if ((yield* matches(call, field, value)) === wanted) kept.push(value)
    if (++number % PER_TURN === 0 || call.run.isDue()) yield undefined
  }
  return kept
}

function* firstMatch(call: FilterCall): Work<{ value: LiquidValue; index: number } | undefined> {
  const field = textArgument(call, 0)
  let index = 0
  for (const value of yield* visited(call)) {
    if (yield* matches(call, field, value)) return { value, index }
    if (++index % PER_TURN === 0 || call.run.isDue()) yield undefined
  }
  return undefined
}

/** `field[, value]` (LIQ-39). */
function* matches(call: FilterCall, field: string, value: LiquidValue): Work<boolean> {
  if (!isObject(value)) return false
  const found = yield* fieldOf(value, field, call.run)
  if (call.args.length < 2) return isTruthy(plain(found))
  return yield* equaling(found, call.args[1] ?? null, call.run)
}
