/** Equality and order of values (LIQ-20, LIQ-28, LIQ-29). */

import { containing as containingText } from '../../tree/selector/substring.ts'
import { ElementValue } from '../values.ts'
import { FilterError } from './error.ts'
import type { Run } from './run.ts'
import { isHash, isList, isNumber, Keyword, type LiquidValue, numberIn, plain, Range } from './values.ts'
import { pausing, type Work } from './work.ts'

/** Lists inside lists that are compared. */
const MAX_NESTING = 100

/** Elements of a list that are compared without a pause. */
const PER_TURN = 500

/** UTF-16 code units of two texts that are compared as a whole: the engine does it much faster than one by one. */
const STRETCH = 4_096

/** Whether two values are equal; lists are gone through in turns. */
export function* equaling(left: LiquidValue, right: LiquidValue, run: Run, depth = 0): Work<boolean> {
  const a = plain(left)
  const b = plain(right)
  if (a === b || !isList(a) || !isList(b)) return equals(a, b, run)
  if (a.length !== b.length) return false
  if (depth >= MAX_NESTING) throw new FilterError('Lists are nested too deeply to be compared.')
  run.step(1 + a.length)
  for (const [i, value] of a.entries()) {
    if (i % PER_TURN === PER_TURN - 1 || run.isDue()) yield undefined
    const [mine, other] = [plain(value), b[i] ?? null]
    if (!(isList(mine) ? yield* equaling(mine, other, run, depth + 1) : equals(mine, plain(other), run))) return false
  }
  return true
}

/** The same for two values of which one is no list. */
export function equals(a: LiquidValue, b: LiquidValue, run: Run): boolean {
  // Texts of one length are gone through as far as they are equal.
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) run.passOver(a.length)
  if (a === b) return true
  if (a instanceof Keyword) return b instanceof Keyword ? a.word === b.word : isKeyword(b, a, run)
  if (b instanceof Keyword) return isKeyword(a, b, run)
  if (a === null || b === null) return false
  if (isNumber(a) || isNumber(b)) {
    const x = asNumber(a)
    const y = asNumber(b)
    // An Integer and a Float are equal where neither is less; `===` would tell their types apart.
    return x !== undefined && y !== undefined && !(x < y || x > y)
  }
  if (typeof a === 'boolean' || typeof b === 'boolean') return String(a) === String(b) && isScalar(a) && isScalar(b)
  if (a instanceof Range && b instanceof Range) return a.first === b.first && a.last === b.last
  if (a instanceof ElementValue && b instanceof ElementValue) return a.node === b.node
  return false
}

/** Negative, zero or positive; undefined where two values have no order (LIQ-29). */
export function order(left: LiquidValue, right: LiquidValue, run: Run): number | undefined {
  const a = plain(left)
  const b = plain(right)
  if (isNumber(a) || isNumber(b)) {
    const x = asNumber(a)
    const y = asNumber(b)
    if (x === undefined || y === undefined) return undefined
    return x < y ? -1 : x > y ? 1 : 0
  }
  if (typeof a === 'string' && typeof b === 'string') return byCodePoint(a, b, run)
  return undefined
}

/** Order of texts by code point; JavaScript's own is by UTF-16 code unit. */
export function byCodePoint(a: string, b: string, run: Run): number {
  const length = Math.min(a.length, b.length)
  run.passOver(length)
  let from = 0
  while (from + STRETCH <= length && a.slice(from, from + STRETCH) === b.slice(from, from + STRETCH)) from += STRETCH
  for (let i = from; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) {
      const highX = x >= 0xd800 && x < 0xe000
      const highY = y >= 0xd800 && y < 0xe000
      return highX === highY ? x - y : highX ? 1 : -1
    }
  }
  return a.length - b.length
}

/** Whether a text, a range or a list holds a value; in turns. */
export function* containing(container: LiquidValue, member: LiquidValue, run: Run): Work<boolean> {
  const value = plain(container)
  if (typeof value === 'string') {
    const text = plain(member)
    if (text === null) return false
    const part = run.text(text)
    run.step()
    run.passOver(value.length)
    return part === '' || (yield* pausing(containingText(value, part)))
  }
  if (value instanceof Range) {
    const number = asNumber(plain(member))
    return number !== undefined && number >= value.first && number <= value.last && Number.isInteger(Number(number))
  }
  if (!isList(value)) return false
  run.step(value.length)
  for (const [i, element] of value.entries()) {
    if (i % PER_TURN === PER_TURN - 1 || run.isDue()) yield undefined
    const one = plain(element)
    if (isList(one) ? yield* equaling(one, member, run) : equals(one, plain(member), run)) return true
  }
  return false
}

function asNumber(value: LiquidValue): bigint | number | undefined {
  if (isNumber(value)) return value
  return typeof value === 'string' ? numberIn(value) : undefined
}

function isScalar(value: LiquidValue): boolean {
  return typeof value === 'string' || typeof value === 'boolean'
}

function isKeyword(value: LiquidValue, { word }: Keyword, run: Run): boolean {
  if (value === '' || (isList(value) && value.length === 0)) return true
  if (value instanceof Range) return value.size === 0n
  if (isHash(value)) return value instanceof Map ? value.size === 0 : [...value.keys()].length === 0
  if (word === 'empty') return false
  if (typeof value === 'string') run.passOver(value.length)
  return value === null || value === false || (typeof value === 'string' && !/\S/u.test(value))
}
