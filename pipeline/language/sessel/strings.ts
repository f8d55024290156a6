/** Methods of Strings (SES-75). Places and lengths are code points. */

import { createHash, createHmac } from 'node:crypto'
import { piecesOf } from '../../tree/document.ts'
import { containing, parting } from '../../tree/selector/substring.ts'
import { atOnce, type Steps } from '../../tree/steps.ts'
import type { Value } from '../values.ts'
import { MAX_TEXT, tooLong } from './comparison.ts'
import { CONVERSIONS } from './conversions.ts'
import { type Evaluation, type Given, Pending, pausing, settled } from './evaluation.ts'
import { argon2, bcrypt } from './hashes.ts'
import { lowering, uppering } from './letter-case.ts'
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

/** `lengthOf` in steps. */
function* measuring(text: string): Steps<number> {
  let length = 0
  for (const piece of piecesOf(text, PER_STEP)) {
    length += lengthOf(piece)
    yield
  }
  return length
}

function* counting(text: string): Steps<bigint> {
  return BigInt(yield* measuring(text))
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}

/** The code units before a code point. */
function* findingOffset(text: string, from: number, places: number): Steps<number> {
  let at = from
  for (let seen = 0; seen < places && at < text.length; seen++) {
    at += isPair(text, at) ? 2 : 1
    if (seen % WITHOUT_PAUSE === WITHOUT_PAUSE - 1) yield
  }
  return at
}

function slice(text: string, args: Value[], on: Evaluation): Given {
  on.spend(text.length >> 8)
  if (SURROGATES.test(text)) {
    if (text.length > LONGEST) throw tooLong(LONGEST)
    return given(slicing(text, args, on), text)
  }
  const [from, to] = rangeOf(text.length, args)
  return metered(on, text.slice(from, to))
}

function* slicing(text: string, args: Value[], on: Evaluation): Steps<string> {
  const [from, to] = rangeOf(yield* measuring(text), args)
  const start = yield* findingOffset(text, 0, from)
  const end = yield* findingOffset(text, start, to - from)
  return metered(on, text.slice(start, end))
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

/** UTF-16 code units of a step. */
const PER_STEP = 64 * 1024

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

function hmac(text: string, key: string, on: Evaluation): Given {
  goThrough(key, on)
  return given(
    digesting(text, () => createHmac('sha256', key)),
    text,
  )
}

/** SHA-256 of a text in pieces: most of the time goes into what is not ASCII. */
function* digesting(text: string, sumOf: () => { update(piece: string): unknown; digest(encoding: 'hex'): string }) {
  const sum = sumOf()
  for (const piece of piecesOf(text, PER_STEP)) {
    sum.update(piece)
    yield
  }
  return sum.digest('hex')
}

const upper = ofText((text, on) => given(inCase(uppering(text), on), text))
const lower = ofText((text, on) => given(inCase(lowering(text), on), text))

function* inCase(work: Steps<string>, on: Evaluation): Steps<string> {
  return metered(on, yield* work)
}

/** UTF-16 code units of a text that becomes a slug. */
const LONGEST_SLUG = 1024 * 1024

/** What is left of a character does not depend on those around it, so that a text can be gone through in pieces. */
function* slugging(text: string, on: Evaluation): Steps<string> {
  if (text.length > LONGEST_SLUG) throw tooLong(LONGEST_SLUG)
  let slug = ''
  for (const piece of piecesOf(text, PER_STEP)) {
    const plain = piece
      // Long runs of marks would take the square of their length to be brought into order.
      .replace(/\p{M}+/gu, '')
      .normalize('NFD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
    slug += plain.replace(/[^a-z0-9]+/g, '-')
    yield
  }
  return metered(on, slug.replace(/-{2,}/g, '-').replace(/^-|-$/g, ''))
}

export const STRING_METHODS: Methods = new Map<string, Method>([
  ...CONVERSIONS,
  ['contains', withText('contains', (text, part) => part === '' || given(containing(text, part), text))],
  ['startsWith', withText('startsWith', (text, part) => text.startsWith(part))],
  ['endsWith', withText('endsWith', (text, part) => text.endsWith(part))],
  ['matches', withText('matches', matches)],
  ['count', ofText(text => given(counting(text), text))],
  ['isEmpty', ofText(text => text === '')],
  ['trim', ofText((text, on) => metered(on, text.trim()))],
  ['lower', lower],
  ['lowercase', lower],
  ['upper', upper],
  ['uppercase', upper],
  ['replace', { least: 2, most: 2, run: replace }],
  ['split', withText('split', split)],
  ['slice', { least: 1, most: 2, run: slice }],
  [
    'sha256',
    ofText(text =>
      given(
        digesting(text, () => createHash('sha256')),
        text,
      ),
    ),
  ],
  ['hmac_sha256', withText('hmac_sha256', hmac)],
  ['bcrypt', { least: 0, most: 1, run: (text: string, [options], on) => waiting(bcrypt(text, options, on)) }],
  ['argon2', { least: 0, most: 1, run: (text: string, [options], on) => waiting(argon2(text, options, on)) }],
  ['slugify', ofText((text, on) => given(slugging(text, on), text))],
  ['parseDateTime', ofText(text => parseDateTime(text))],
])

function matches(text: string, pattern: string, on: Evaluation): Given {
  const found = matchesPattern(text, pattern, on)
  return found instanceof Promise ? waiting(found) : found
}

function waiting(result: Promise<Value>): Pending {
  return new Pending(settled(result))
}
