/** Methods of Dictionaries (SES-90). */

import type { Dictionary, Value } from '../values.ts'
import { isDictionary } from '../values.ts'
import { isTruthy, typeOf } from './comparison.ts'
import { type Evaluation, Pending, typeError, type Work } from './evaluation.ts'
import { type Method, type Methods, textArgument } from './method.ts'

/** Entries that are gone through without a pause. */
const WITHOUT_PAUSE = 2_000

/** Bytes of an entry as a Dictionary of its own. */
const ENTRY = 192

function keysOf(dictionary: Dictionary, on: Evaluation): string[] {
  const keys = [...dictionary.keys()]
  on.spend(keys.length)
  on.take(64 + 48 * keys.length)
  return keys
}

function* copying(dictionary: Dictionary, on: Evaluation): Work<Map<string, Value>> {
  const copy = new Map<string, Value>()
  yield* putting(dictionary, copy, on)
  return copy
}

function* putting(from: Dictionary, into: Map<string, Value>, on: Evaluation): Work<void> {
  if (from instanceof Map) on.take(64 + 64 * from.size)
  let seen = 0
  for (const key of from instanceof Map ? from.keys() : keysOf(from, on)) {
    into.set(key, from.get(key) ?? null)
    if (++seen % WITHOUT_PAUSE === 0) {
      on.spend(WITHOUT_PAUSE)
      yield undefined
    }
  }
  on.spend(seen % WITHOUT_PAUSE)
}

/** A method that makes something of each entry. */
function ofEntries(make: (key: string, value: Value) => Value, bytes: number): Method {
  const work = function* (dictionary: Dictionary, on: Evaluation): Work {
    const keys = keysOf(dictionary, on)
    on.take(bytes * keys.length)
    const made: Value[] = []
    for (const key of keys) {
      made.push(make(key, dictionary.get(key) ?? null))
      if (made.length % WITHOUT_PAUSE === 0) yield undefined
    }
    return made
  }
  return { least: 0, most: 0, run: (dictionary: Dictionary, _, on) => new Pending(work(dictionary, on)) }
}

function has(dictionary: Dictionary, key: string): boolean {
  return dictionary.has(key)
}

/** `get(key, default)`; the default is not evaluated where the key is there (`JUMP_HELD`). */
function get(dictionary: Dictionary, [wanted, fallback = null]: Value[]): Value {
  const key = textArgument('get', wanted)
  return has(dictionary, key) ? (dictionary.get(key) ?? null) : fallback
}

function entry(key: string, value: Value): Value {
  return new Map<string, Value>([
    ['key', key],
    ['value', value],
  ])
}

function* without(dictionary: Dictionary, key: string, on: Evaluation): Work {
  const rest = yield* copying(dictionary, on)
  rest.delete(key)
  return rest
}

function* merging(dictionary: Dictionary, other: Dictionary, on: Evaluation): Work {
  const merged = yield* copying(dictionary, on)
  yield* putting(other, merged, on)
  return merged
}

export const DICTIONARY_METHODS: Methods = new Map<string, Method>([
  ['keys', { least: 0, most: 0, run: (d: Dictionary, _, on) => keysOf(d, on) }],
  ['values', ofEntries((_, value) => value, 0)],
  ['entries', ofEntries(entry, ENTRY)],
  ['contains', { least: 1, most: 1, run: (d: Dictionary, [key]) => has(d, textArgument('contains', key)) }],
  [
    'count',
    { least: 0, most: 0, run: (d: Dictionary, _, on) => BigInt(d instanceof Map ? d.size : keysOf(d, on).length) },
  ],
  ['isEmpty', { least: 0, most: 0, run: (d: Dictionary) => !isTruthy(d) }],
  ['get', { least: 2, most: 2, run: get }],
  [
    'delete',
    {
      least: 1,
      most: 1,
      run: (d: Dictionary, [key], on) => new Pending(without(d, textArgument('delete', key), on)),
    },
  ],
  [
    'merge',
    {
      least: 1,
      most: 1,
      run: (d: Dictionary, [other = null], on) => {
        if (other === null || !isDictionary(other))
          throw typeError(`“merge” takes a Dictionary, not a ${typeOf(other)}`)
        return new Pending(merging(d, other, on))
      },
    },
  ],
])
