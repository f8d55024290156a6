/** Pseudo-classes about what an element says, by its text or by its microdata value (COMP-134 to COMP-136). */

import { asciiLower } from '../ascii.ts'
import { valueAttribute } from '../microdata-value.ts'
import { attribute, type ElementNode } from '../nodes.ts'
import { normalForm } from '../normal-form.ts'
import type { Steps } from '../steps.ts'
import { SelectorError } from './error.ts'
import type { Extension, ExtensionContext, ExtensionTest } from './extension.ts'
import { normalized, TextWriter } from './normal-text.ts'
import { finder, occurrences } from './substring.ts'
import { type Extract, textOf } from './text.ts'
import { type Token, tokenize } from './token.ts'

type Read = (element: ElementNode, context: ExtensionContext) => Extract

/** The value of an element: that of an attribute where microdata has one, else the text. */
export const valueText: Read = (element, context) => {
  const name = valueAttribute(element)
  if (name === undefined) return textOf(element, context)
  const value = attribute(element, name) ?? ''
  context.spend(value.length >> 3)
  const whole = value.length > SHORT ? longValue(value, context) : normalized(value)
  return { whole, start: 0, end: whole.length, isShared: false }
}

/** Characters of a value that are normalized without a pause. */
const SHORT = 16 * 1024

const VALUES = Symbol('long values')

function longValue(value: string, context: ExtensionContext): string {
  const known = context.shared(VALUES, () => new Map<string, string>())
  if (!known.has(value)) context.make(normalizing(value, known), value.length)
  return known.get(value) ?? ''
}

function* normalizing(value: string, known: Map<string, string>): Steps<void> {
  const writer = new TextWriter()
  writer.write(value)
  yield* writer.writing()
  writer.endPart()
  known.set(value, writer.text.trim())
}

/** What a text is compared with. */
interface Wanted {
  text: string
  /** ASCII letters are the same in either case. */
  fold: boolean
}

/** By name, lower-case, without colon. */
export const CONTENT_CLASSES: readonly (readonly [name: string, Extension])[] = (
  [
    ['', textOf],
    ['value-', valueText],
  ] as const
).flatMap(([prefix, read]) => [
  [`${prefix}contains`, { compile: argument => contains(read, wantedOf(argument)) }] as const,
  [`${prefix}equals`, { compile: argument => equals(read, wantedOf(argument)) }] as const,
  [
    `${prefix}less-than`,
    { compile: argument => compares(read, thresholdOf(argument), (n, limit) => n < limit) },
  ] as const,
  [
    `${prefix}greater-than`,
    { compile: argument => compares(read, thresholdOf(argument), (n, limit) => n > limit) },
  ] as const,
])

function contains(read: Read, { text, fold }: Wanted): ExtensionTest {
  if (text === '') return () => true
  const found = finder(text)
  const key = Symbol('occurrences')
  return (element, context) => {
    const { whole, start, end, isShared } = read(element, context)
    if (!isShared) return found(fold ? asciiLower(whole) : whole)
    const places = context.shared(key, () => {
      context.spend(whole.length >> 2)
      return occurrences(text, fold ? asciiLower(whole) : whole)
    })
    return firstFrom(places, start) + text.length <= end
  }
}

/** The first of ascending places that is not before another one; Infinity when there is none. */
function firstFrom(places: readonly number[], least: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? least) < least) low = middle + 1
    else high = middle
  }
  return places[low] ?? Number.POSITIVE_INFINITY
}

function equals(read: Read, { text, fold }: Wanted): ExtensionTest {
  return (element, context) => {
    const { whole, start, end } = read(element, context)
    if (end - start !== text.length) return false
    context.spend(text.length >> 3)
    const own = whole.slice(start, end)
    return (fold ? asciiLower(own) : own) === text
  }
}

/** What a number begins with; most texts end it at once. */
const DIGITS = /[+-]?[\d.]*/y
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

function compares(read: Read, limit: number, holds: (n: number, limit: number) => boolean): ExtensionTest {
  return (element, context) => {
    const { whole, start, end } = read(element, context)
    DIGITS.lastIndex = start
    const length = DIGITS.exec(whole)?.[0].length ?? 0
    context.spend(length >> 3)
    if (length < end - start) return false
    const own = whole.slice(start, end)
    return DECIMAL.test(own) && holds(Number(own), limit)
  }
}

/** A string, or an identifier that stands for its own text; then perhaps `, i`. */
function wantedOf(argument: string): Wanted {
  const [first, comma, flag, ...more] = tokensOf(argument)
  if (first?.type !== 'string' && first?.type !== 'ident') throw malformed(argument)
  const text = normalForm(first.value)
  if (!comma) return { text, fold: false }
  const isFlag = flag?.type === 'ident' && asciiLower(flag.value) === 'i'
  if (comma.type !== ',' || !isFlag || more.length > 0) throw malformed(argument)
  return { text: asciiLower(text), fold: true }
}

function thresholdOf(argument: string): number {
  const [first, ...more] = tokensOf(argument)
  const text = first?.type === 'string' || first?.type === 'number' ? first.value.trim() : ''
  if (!DECIMAL.test(text) || more.length > 0) throw malformed(argument)
  return Number(text)
}

/** The tokens of an argument that are not white space. */
export function tokensOf(argument: string): Token[] {
  return tokenize(argument).tokens.filter(({ type }) => type !== 'space')
}

export function malformed(argument: string): SelectorError {
  return new SelectorError(`“${argument.slice(0, 40)}” is not an argument that can be used here`)
}
