/** JSON of plain values in steps. */

import { piecesOf } from './document.ts'
import { LONG } from './long-text.ts'
import type { Steps } from './steps.ts'

/** What a value counts beside its text, in UTF-16 code units. */
const LEAST = 8

/** @returns what `JSON.stringify` gives; `null` where that is nothing */
export function* writingPlain(value: unknown): Steps<string> {
  if (weigh(value) <= LONG) return JSON.stringify(value) ?? 'null'
  if (typeof value === 'string') return yield* writingText(value)
  if (Array.isArray(value)) return `[${(yield* writingList(value)).join()}]`
  const members: string[] = []
  for (const [name, member] of Object.entries(value as object)) {
    if (member === undefined) continue
    members.push(`${JSON.stringify(name)}:${yield* writingPlain(member)}`)
    if (members.length % MEMBERS_PER_STEP === 0) yield
  }
  return `{${members.join()}}`
}

/** Members of an object that are written in one step. */
const MEMBERS_PER_STEP = 200

function* writingText(text: string): Steps<string> {
  const parts: string[] = []
  for (const piece of piecesOf(text, LONG)) {
    parts.push(JSON.stringify(piece).slice(1, -1))
    yield
  }
  return `"${parts.join('')}"`
}

/** Short entries are written together. */
function* writingList(list: readonly unknown[]): Steps<string[]> {
  const parts: string[] = []
  let from = 0
  let together = 0
  for (let at = 0; at <= list.length; at++) {
    const weight = at < list.length ? weigh(list[at]) : 0
    if (at < list.length && together + weight <= LONG) {
      together += weight
      continue
    }
    if (from < at) parts.push(JSON.stringify(list.slice(from, at)).slice(1, -1))
    yield
    if (weight > LONG) parts.push(yield* writingPlain(list[at]))
    from = weight > LONG ? at + 1 : at
    together = weight > LONG ? 0 : weight
  }
  return parts
}

/** About how long the text of a value is, as far as it is short. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return LEAST + value.length
  if (typeof value !== 'object' || value === null) return LEAST
  let weight = LEAST
  if (Array.isArray(value)) {
    for (const each of value) if ((weight += weigh(each)) > LONG) break
    return weight
  }
  for (const [name, each] of Object.entries(value)) if ((weight += name.length + weigh(each)) > LONG) break
  return weight
}
