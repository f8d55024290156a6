/** Methods of Dictionaries (SES-90). */

import type { Dictionary, Value } from '../values.ts'
import { isDictionary } from '../values.ts'
import { isTruthy, typeOf } from './comparison.ts'
import { type Evaluation, type Given, Pending, typeError, type Work } from './evaluation.ts'
import { Lambda } from './kinds.ts'
import { type Method, type Methods, textArgument } from './method.ts'

function keysOf(dictionary: Dictionary, on: Evaluation): string[] {
  const keys = [...dictionary.keys()]
  on.spend(keys.length)
  on.take(64 + 48 * keys.length)
  return keys
}

function copy(dictionary: Dictionary, on: Evaluation): Map<string, Value> {
  if (dictionary instanceof Map) {
    on.spend(dictionary.size)
    on.take(64 + 64 * dictionary.size)
    return new Map(dictionary)
  }
  return new Map(keysOf(dictionary, on).map(key => [key, dictionary.get(key) ?? null]))
}

function has(dictionary: Dictionary, key: string): boolean {
  return dictionary.has(key)
}

/** `get(key, default)`: the default comes as a lambda, which is called where the key is missing. */
function get(dictionary: Dictionary, args: Value[], on: Evaluation, isLazy: boolean): Given {
  const key = textArgument('get', args[0])
  const found = has(dictionary, key) ? (dictionary.get(key) ?? null) : undefined
  if (found !== undefined) return found
  const fallback = args[1] ?? null
  if (!isLazy || !(fallback instanceof Lambda)) return fallback
  return new Pending(calledWith(fallback, on))
}

function* calledWith(fallback: Lambda, on: Evaluation): Work {
  return yield on.call(fallback, [])
}

function entry(key: string, value: Value): Value {
  return new Map<string, Value>([
    ['key', key],
    ['value', value],
  ])
}

export const DICTIONARY_METHODS: Methods = new Map<string, Method>([
  ['keys', { least: 0, most: 0, run: (d: Dictionary, _, on) => keysOf(d, on) }],
  ['values', { least: 0, most: 0, run: (d: Dictionary, _, on) => keysOf(d, on).map(key => d.get(key) ?? null) }],
  [
    'entries',
    { least: 0, most: 0, run: (d: Dictionary, _, on) => keysOf(d, on).map(key => entry(key, d.get(key) ?? null)) },
  ],
  ['contains', { least: 1, most: 1, run: (d: Dictionary, [key]) => has(d, textArgument('contains', key)) }],
  [
    'count',
    { least: 0, most: 0, run: (d: Dictionary, _, on) => BigInt(d instanceof Map ? d.size : keysOf(d, on).length) },
  ],
  ['isEmpty', { least: 0, most: 0, run: (d: Dictionary) => !isTruthy(d) }],
  ['get', { least: 2, most: 2, isLazy: true, run: get }],
  [
    'delete',
    {
      least: 1,
      most: 1,
      run: (d: Dictionary, [key], on) => {
        const rest = copy(d, on)
        rest.delete(textArgument('delete', key))
        return rest
      },
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
        const merged = copy(d, on)
        for (const key of keysOf(other, on)) merged.set(key, other.get(key) ?? null)
        return merged
      },
    },
  ],
])
