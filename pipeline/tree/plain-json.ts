/** JSON of plain values, and of maps as objects, in steps. */

import { piecesOf } from './document.ts'
import { LONG, LongText } from './long-text.ts'
import type { Stretches } from './source-text.ts'
import type { Steps } from './steps.ts'

/** What a value counts beside its text, in UTF-16 code units. */
const LEAST = 8

/** @returns what `JSON.stringify` gives; `null` where that is nothing */
export function* writingPlain(value: unknown): Steps<string> {
  const text = new LongText()
  yield* writing(value, text)
  return text.whole
}

/** `writingPlain` for those who read a part at a time. */
export function* writingLongPlain(value: unknown): Steps<Stretches> {
  const text = new LongText()
  yield* writing(value, text)
  return text.stretches
}

function* writing(value: unknown, text: LongText): Steps<void> {
  if (weigh(value) <= LONG) {
    if (text.add(JSON.stringify(value) ?? 'null')) yield
    return
  }
  // What lies deep is weighed for each that it lies in.
  yield
  if (typeof value === 'string') yield* writingText(value, text)
  else if (Array.isArray(value)) yield* writingList(value, text)
  else yield* writingMembers(value instanceof Map ? value : Object.entries(value as object), text)
}

/** Members of an object that are written in one step. */
const MEMBERS_PER_STEP = 200

function* writingMembers(members: Iterable<readonly [name: string, member: unknown]>, text: LongText): Steps<void> {
  let written = 0
  for (const [name, member] of members) {
    if (member === undefined) continue
    text.add(`${written === 0 ? '{' : ','}${JSON.stringify(name)}:`)
    yield* writing(member, text)
    if (++written % MEMBERS_PER_STEP === 0) yield
  }
  text.add(written === 0 ? '{}' : '}')
}

function* writingText(value: string, text: LongText): Steps<void> {
  text.add('"')
  for (const piece of piecesOf(value, LONG)) {
    text.add(JSON.stringify(piece).slice(1, -1))
    yield
  }
  text.add('"')
}

/** Short entries are written together. */
function* writingList(list: readonly unknown[], text: LongText): Steps<void> {
  let from = 0
  let together = 0
  text.add('[')
  for (let at = 0; at <= list.length; at++) {
    const weight = at < list.length ? weigh(list[at]) : 0
    if (at < list.length && together + weight <= LONG) {
      together += weight
      continue
    }
    if (from < at) text.add(`${from === 0 ? '' : ','}${JSON.stringify(list.slice(from, at)).slice(1, -1)}`)
    yield
    if (weight > LONG) {
      if (at > 0) text.add(',')
      yield* writing(list[at], text)
    }
    from = weight > LONG ? at + 1 : at
    together = weight > LONG ? 0 : weight
  }
  text.add(']')
}

/** @returns what `JSON.parse` makes of what `writingPlain` gives: no text in it holds on to one that it was cut from */
export function* copyingPlain(value: unknown): Steps<unknown> {
  if (weigh(value) <= LONG || typeof value !== 'object' || value === null) return JSON.parse(yield* writingPlain(value))
  yield
  if (Array.isArray(value)) return yield* copyingList(value)
  const members: [name: string, member: unknown][] = []
  for (const [name, member] of value instanceof Map ? value : Object.entries(value)) {
    if (member === undefined) continue
    members.push([JSON.parse(JSON.stringify(name)), yield* copyingPlain(member)])
    if (members.length % MEMBERS_PER_STEP === 0) yield
  }
  return Object.fromEntries(members)
}

function* copyingList(list: readonly unknown[]): Steps<unknown[]> {
  const copies: unknown[] = []
  let left = LONG
  for (const each of list) {
    left -= weigh(each)
    if (left < 0) {
      yield
      left = LONG
    }
    copies.push(yield* copyingPlain(each))
  }
  return copies
}

/** About how long the text of a value is, as far as it is short; a map is never written at once. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return LEAST + value.length
  if (typeof value !== 'object' || value === null) return LEAST
  if (value instanceof Map) return LONG + 1
  let weight = LEAST
  if (Array.isArray(value)) {
    for (const each of value) if ((weight += weigh(each)) > LONG) break
    return weight
  }
  for (const [name, each] of Object.entries(value)) if ((weight += name.length + weigh(each)) > LONG) break
  return weight
}
