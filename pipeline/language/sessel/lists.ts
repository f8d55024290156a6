/** Methods of Lists (SES-80 to SES-82). Every one gives a new List. */

import { textKey } from '../../tree/text-key.ts'
import { ElementValue, isList, type List, type Value } from '../values.ts'
import { calculate } from './arithmetic.ts'
import { compare, isTruthy, MAX_DEPTH, tooDeep, typeOf } from './comparison.ts'
import { numberOf } from './conversions.ts'
import { elementValue } from './element-text.ts'
import { type Evaluation, type Given, Pending, runtimeError, typeError, type Work } from './evaluation.ts'
import { Lambda } from './kinds.ts'
import { integerArgument, lambdaArgument, type Method, type Methods, textArgument } from './method.ts'
import { microdataOf } from './microdata.ts'
import { sorting } from './sort.ts'
import { joined, textOf } from './text-form.ts'

/** Items that are looked at without a pause. */
const WITHOUT_PAUSE = 200

/** Counts a list of so many items before it is made. */
function room(on: Evaluation, items: number): void {
  on.spend(items >> 3)
  on.take(16 + 8 * items)
}

function plain(run: (list: List, on: Evaluation) => Given): Method {
  return { least: 0, most: 0, run: (list: List, _, on) => run(list, on) }
}

/** A method that calls a function for one item after the other. */
function calling(name: string, run: (list: List, call: Caller, on: Evaluation) => Work): Method {
  return {
    least: 1,
    most: 1,
    run: (list: List, [argument], on) => {
      const fn = lambdaArgument(name, argument)
      return new Pending(run(list, callerOf(fn, list, on), on))
    },
  }
}

type Caller = (item: Value, at: number) => ReturnType<Evaluation['call']>

/** SES-35: callbacks get the item, its place and the list, as far as they take them. */
function callerOf(fn: Lambda, list: List, on: Evaluation): Caller {
  if (fn.code.parameters <= 1 && !fn.code.hasRest) return item => on.call(fn, [item])
  return (item, at) => on.call(fn, [item, BigInt(at), list])
}

function* keeping(list: List, call: Caller, on: Evaluation, wanted: boolean): Work {
  const kept: Value[] = []
  for (let at = 0; at < list.length; at++) {
    const item = list[at] as Value
    if (isTruthy(yield call(item, at)) === wanted) kept.push(item)
  }
  room(on, kept.length)
  return kept
}

/** The place of the first item whose truth is another one than expected; the length where there is none. */
function* until(list: List, call: Caller, expected: boolean): Work<number> {
  for (let at = 0; at < list.length; at++) {
    if (isTruthy(yield call(list[at] as Value, at)) !== expected) return at
  }
  return list.length
}

/** The half-open range of `slice`, negative places from the end. */
export function rangeOf(length: number, args: List): [from: number, to: number] {
  const place = (value: Value | undefined, missing: number) => {
    if (value === undefined || value === null) return missing
    const at = integerArgument('slice', value)
    return Math.min(Math.max(at < 0 ? length + at : at, 0), length)
  }
  const from = place(args[0], 0)
  return [from, Math.max(from, place(args[1], length))]
}

type Numeric = bigint | number

/** SES-81: makes one value of all that counts as a number, with pauses: the texts of elements may be long. */
function folding(fold: (result: Value, number: Numeric, on: Evaluation) => Value, first: Value): Method {
  const work = function* (list: List, on: Evaluation): Work {
    let result = first
    for (const item of list) {
      on.spend(1)
      if (on.isDue) yield undefined
      const value = item instanceof ElementValue ? elementValue(item, on.spend) : item
      const number = typeof value === 'string' ? numberOf(value) : value
      if (typeof number === 'bigint' || typeof number === 'number') result = fold(result, number, on)
    }
    return result
  }
  return plain((list, on) => new Pending(work(list, on)))
}

function extreme(wanted: -1 | 1): Method {
  return folding(
    (found, number, on) => (found === null || compare(number, found, on.spend) === wanted ? number : found),
    null,
  )
}

/** Looks at the text forms of all items, with pauses. @returns whether one is what is looked for */
function* someText(list: List, on: Evaluation, isFound: (text: string, item: Value) => boolean): Work<boolean> {
  for (const item of list) {
    const text = yield* textOf(item, on)
    // It is gone through once more, to be compared.
    on.spend(1 + (text.length >> 8))
    if (isFound(text, item)) return true
    if (on.isDue) yield undefined
  }
  return false
}

/** The text forms of all items. */
function* textsOf(list: List, on: Evaluation): Work<Set<string>> {
  on.take(48 * list.length)
  const texts = new Set<string>()
  yield* someText(list, on, text => {
    texts.add(textKey(text))
    return false
  })
  return texts
}

function* unique(list: List, on: Evaluation): Work {
  on.take(48 * list.length)
  const seen = new Set<string>()
  const kept: Value[] = []
  yield* someText(list, on, (text, item) => {
    const key = textKey(text)
    if (!seen.has(key)) kept.push(item)
    seen.add(key)
    return false
  })
  room(on, kept.length)
  return kept
}

/** A method that compares the text forms of two lists. */
function comparing(name: string, run: (list: List, other: List, on: Evaluation) => Work): Method {
  return {
    least: 1,
    most: 1,
    run: (list: List, [other], on) => new Pending(run(list, listArgument(name, other), on)),
  }
}

function listArgument(name: string, value: Value | undefined): List {
  if (value !== undefined && value !== null && isList(value)) return value
  throw typeError(`“${name}” takes a List, not a ${typeOf(value ?? null)}`)
}

function* flattening(list: List, into: Value[], on: Evaluation, depth: number): Work<void> {
  if (depth === MAX_DEPTH) throw tooDeep()
  room(on, list.length)
  on.spend(list.length)
  if (on.isDue) yield undefined
  for (const item of list) {
    if (item !== null && isList(item)) yield* flattening(item, into, on, depth + 1)
    else into.push(item)
  }
}

function* flatten(list: List, on: Evaluation): Work {
  const flat: Value[] = []
  yield* flattening(list, flat, on, 0)
  return flat
}

function* reducing(list: List, args: List, isReversed: boolean, on: Evaluation): Work {
  const [first, second] = args
  const fn = args.length === 1 || first instanceof Lambda ? first : second
  const hasInitial = args.length === 2
  const call = lambdaArgument('reduce', fn)
  const places = isReversed ? [list.length - 1, -1, -1] : [0, list.length, 1]
  let [at = 0, end = 0, step = 1] = places
  let result = (fn === first ? second : first) ?? null
  if (!hasInitial) {
    if (list.length === 0) throw runtimeError('an empty List cannot be reduced without a first value')
    result = list[at] as Value
    at += step
  }
  for (; at !== end; at += step) {
    const item = list[at] as Value
    result = yield on.call(
      call,
      call.code.parameters > 2 || call.code.hasRest ? [result, item, BigInt(at), list] : [result, item],
    )
  }
  return result
}

function* microdataOfAll(list: List, on: Evaluation): Work {
  const found: Value[] = []
  for (const item of list) {
    found.push(item instanceof ElementValue ? yield* microdataOf(item, on) : null)
    if (found.length % WITHOUT_PAUSE === 0) yield undefined
  }
  return found
}

export const LIST_METHODS: Methods = new Map<string, Method>([
  ['count', plain(list => BigInt(list.length))],
  ['isEmpty', plain(list => list.length === 0)],
  ['first', plain(list => list[0] ?? null)],
  ['last', plain(list => list.at(-1) ?? null)],
  ['at', { least: 1, most: 1, run: (list: List, [at]) => list.at(integerArgument('at', at)) ?? null }],
  [
    'slice',
    {
      least: 1,
      most: 2,
      run: (list: List, args, on) => {
        const [from, to] = rangeOf(list.length, args)
        room(on, to - from)
        return list.slice(from, to)
      },
    },
  ],
  ['filter', calling('filter', (list, call, on) => keeping(list, call, on, true))],
  ['reject', calling('reject', (list, call, on) => keeping(list, call, on, false))],
  [
    'find',
    calling('find', function* (list, call) {
      return list[yield* until(list, call, false)] ?? null
    }),
  ],
  [
    'map',
    calling('map', function* (list, call, on) {
      room(on, list.length)
      const results: Value[] = []
      for (let at = 0; at < list.length; at++) results.push(yield call(list[at] as Value, at))
      return results
    }),
  ],
  [
    'each',
    calling('each', function* (list, call) {
      for (let at = 0; at < list.length; at++) yield call(list[at] as Value, at)
      return list
    }),
  ],
  [
    'takeWhile',
    calling('takeWhile', function* (list, call, on) {
      const end = yield* until(list, call, true)
      room(on, end)
      return list.slice(0, end)
    }),
  ],
  [
    'dropWhile',
    calling('dropWhile', function* (list, call, on) {
      const end = yield* until(list, call, true)
      room(on, list.length - end)
      return list.slice(end)
    }),
  ],
  [
    'all',
    calling('all', function* (list, call) {
      return (yield* until(list, call, true)) === list.length
    }),
  ],
  [
    'any',
    calling('any', function* (list, call) {
      return (yield* until(list, call, false)) < list.length
    }),
  ],
  ['sum', folding((sum, number, on) => calculate('+', sum, number, on.spend), 0n)],
  ['min', extreme(-1)],
  ['max', extreme(1)],
  ['unique', plain((list, on) => new Pending(unique(list, on)))],
  [
    'subset',
    comparing('subset', function* (list, other, on) {
      const texts = yield* textsOf(other, on)
      return !(yield* someText(list, on, text => !texts.has(textKey(text))))
    }),
  ],
  [
    'disjoint',
    comparing('disjoint', function* (list, other, on) {
      const texts = yield* textsOf(other, on)
      return !(yield* someText(list, on, text => texts.has(textKey(text))))
    }),
  ],
  [
    'contains',
    {
      least: 1,
      most: 1,
      run: (list: List, [value = null], on) => {
        const work = function* () {
          const wanted = yield* textOf(value, on)
          return yield* someText(list, on, text => text === wanted)
        }
        return new Pending(work())
      },
    },
  ],
  [
    'sort',
    {
      least: 0,
      most: 1,
      run: (list: List, args, on) => {
        room(on, 2 * list.length)
        const fn = args.length === 0 ? undefined : lambdaArgument('sort', args[0])
        return new Pending(sorting(list, fn, on))
      },
    },
  ],
  [
    'reverse',
    plain((list, on) => {
      room(on, list.length)
      return list.toReversed()
    }),
  ],
  ['flatten', plain((list, on) => new Pending(flatten(list, on)))],
  ['join', { least: 1, most: 1, run: (list: List, [between], on) => joined(list, textArgument('join', between), on) }],
  ['reduce', { least: 1, most: 2, run: (list: List, args, on) => new Pending(reducing(list, args, false, on)) }],
  ['reduceRight', { least: 1, most: 2, run: (list: List, args, on) => new Pending(reducing(list, args, true, on)) }],
  [
    'microdata',
    plain((list, on) => {
      room(on, list.length)
      return new Pending(microdataOfAll(list, on))
    }),
  ],
])
