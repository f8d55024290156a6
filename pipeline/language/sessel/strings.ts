/** Methods of Strings (SES-75). Places and lengths are code points. */

import { createHash, createHmac } from 'node:crypto'
import { containing, parting } from '../../tree/selector/substring.ts'
import { atOnce, type Steps } from '../../tree/steps.ts'
import type { Value } from '../values.ts'
import { MAX_TEXT, tooLong } from './comparison.ts'
import { CONVERSIONS } from './conversions.ts'
import { type Evaluation, type Given, Pending, pausing, settled } from './evaluation.ts'
import { argon2, bcrypt } from './hashes.ts'
import { rangeOf } from './lists.ts'
import { type Method, type Methods, textArgument } from './method.ts'
import { matchesPattern } from './patterns.ts'
import { parseDateTime } from './temporal.ts'

const SURROGATES = /[\ud800-\udfff]/

/** Code points of a text. */
export function lengthOf(text: string): number {
  if (!SURROGATES.test(text)) return text.length
  let pairs = 0
  for (let at = 0; at < text.length - 1; at++) {
    if (!isPair(text, at)) continue
    pairs++
    at++
  }
  return text.length - pairs
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}

/** The code units before a code point. */
function offsetOf(text: string, place: number): number {
  let at = 0
  for (let seen = 0; seen < place && at < text.length; seen++) at += isPair(text, at) ? 2 : 1
  return at
}

function slice(text: string, args: Value[], on: Evaluation): string {
  on.spend(text.length >> 8)
  const isPlain = !SURROGATES.test(text)
  if (!isPlain && text.length > LONGEST) throw tooLong(LONGEST)
  const [from, to] = rangeOf(isPlain ? text.length : lengthOf(text), args)
  if (isPlain) return text.slice(from, to)
  const start = offsetOf(text, from)
  return text.slice(start, start + offsetOf(text.slice(start), to - from))
}

/** Counts what a method reads and makes. */
function metered(on: Evaluation, text: string): string {
  if (text.length > MAX_TEXT) throw tooLong()
  on.spend(text.length >> 6)
  on.take(32 + 2 * text.length)
  return text
}

/** UTF-16 code units of a text that a method goes through: some 20 milliseconds, in which nobody else has a turn. */
const LONGEST = 4 * 1024 * 1024

function goThrough(text: string, on: Evaluation): void {
  if (text.length > LONGEST) throw tooLong(LONGEST)
  on.spend(text.length >> 6)
}

function ofText(run: (text: string, on: Evaluation) => Given): Method {
  return {
    least: 0,
    most: 0,
    run: (text: string, _, on) => {
      goThrough(text, on)
      return run(text, on)
    },
  }
}

function withText(name: string, run: (text: string, argument: string, on: Evaluation) => Given): Method {
  return {
    least: 1,
    most: 1,
    run: (text: string, [argument], on) => {
      goThrough(text, on)
      return run(text, textArgument(name, argument), on)
    },
  }
}

/** UTF-16 code units that are gone through without a pause. */
const WITHOUT_PAUSE = 64 * 1024

function given<T extends Value>(steps: Steps<T>, text: string): Given {
  return text.length <= WITHOUT_PAUSE ? atOnce(steps) : new Pending(pausing(steps))
}

function replace(text: string, [a, b]: Value[], on: Evaluation): Given {
  const from = textArgument('replace', a)
  const to = textArgument('replace', b)
  if (from === '' || text === '') return text
  goThrough(text, on)
  on.spend(to.length >> 6)
  return given(replacing(text, from, to, on), text)
}

function* replacing(text: string, from: string, to: string, on: Evaluation): Steps<string> {
  const parts = yield* parting(text, from, on.spend)
  const count = parts.length - 1
  const length = text.length + count * (to.length - from.length)
  if (length > MAX_TEXT) throw tooLong()
  on.take(32 + 2 * length)
  return count === 0 ? text : parts.join(to)
}

function split(text: string, between: string, on: Evaluation): Given {
  if (between === '') {
    const characters = lengthOf(text)
    on.take(16 + 40 * characters)
    on.spend(characters)
    return [...text]
  }
  on.take(16)
  const counted = (parts: number) => {
    on.take(40 * parts)
    on.spend(parts)
  }
  return given(parting(text, between, counted), text)
}

function hmac(text: string, key: string, on: Evaluation): string {
  goThrough(key, on)
  return createHmac('sha256', key).update(text).digest('hex')
}

const upper = ofText((text, on) => metered(on, text.toUpperCase()))
const lower = ofText((text, on) => metered(on, text.toLowerCase()))

/** UTF-16 code units of a text that becomes a slug. */
const LONGEST_SLUG = 1024 * 1024

function slugify(text: string): string {
  if (text.length > LONGEST_SLUG) throw tooLong(LONGEST_SLUG)
  const plain = text
    // Long runs of marks would take the square of their length to be brought into order.
    .replace(/\p{M}+/gu, '')
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
}

export const STRING_METHODS: Methods = new Map<string, Method>([
  ...CONVERSIONS,
  ['contains', withText('contains', (text, part) => part === '' || given(containing(text, part), text))],
  ['startsWith', withText('startsWith', (text, part) => text.startsWith(part))],
  ['endsWith', withText('endsWith', (text, part) => text.endsWith(part))],
  ['matches', withText('matches', matches)],
  ['count', ofText(text => BigInt(lengthOf(text)))],
  ['isEmpty', ofText(text => text === '')],
  ['trim', ofText((text, on) => metered(on, text.trim()))],
  ['lower', lower],
  ['lowercase', lower],
  ['upper', upper],
  ['uppercase', upper],
  ['replace', { least: 2, most: 2, run: replace }],
  ['split', withText('split', split)],
  ['slice', { least: 1, most: 2, run: (text: string, args, on) => metered(on, slice(text, args, on)) }],
  ['sha256', ofText(text => createHash('sha256').update(text).digest('hex'))],
  ['hmac_sha256', withText('hmac_sha256', hmac)],
  ['bcrypt', { least: 0, most: 1, run: (text: string, [options], on) => waiting(bcrypt(text, options, on)) }],
  ['argon2', { least: 0, most: 1, run: (text: string, [options], on) => waiting(argon2(text, options, on)) }],
  ['slugify', ofText((text, on) => metered(on, slugify(text)))],
  ['parseDateTime', ofText(text => parseDateTime(text))],
])

function matches(text: string, pattern: string, on: Evaluation): Given {
  const found = matchesPattern(text, pattern, on)
  return found instanceof Promise ? waiting(found) : found
}

function waiting(result: Promise<Value>): Pending {
  return new Pending(settled(result))
}
