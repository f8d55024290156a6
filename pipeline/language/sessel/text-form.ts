/** The text form of values (SES-64). */

import { atOnce, type Steps } from '../../tree/steps.ts'
import { ElementValue, isList, type List, NamedValue, type Value } from '../values.ts'
import { MAX_DEPTH, MAX_TEXT, type Spend, tooDeep, tooLong } from './comparison.ts'
import { elementValue } from './element-text.ts'
import { type Evaluation, type Given, Pending, pausing, runtimeError, type Work } from './evaluation.ts'
import { writingJson } from './json.ts'

/** Items of a List, and UTF-16 code units of them, that are written in one step. */
const ITEMS_PER_STEP = 1_000
const STEP = 64 * 1024

/** Steps of the longest text that is made without a pause: some 20 milliseconds, in which nobody else has a turn. */
const MOST_AT_ONCE = 50_000

/** SES-64, of a value that holds no others. @returns undefined for a List or Dictionary */
function scalarText(value: Value, spend: Spend): string | undefined {
  switch (typeof value) {
    case 'string':
      return value
    case 'bigint':
      return value.toString()
    case 'number':
      return floatText(value)
    case 'boolean':
      return value ? 'true' : 'false'
  }
  if (value === null) return ''
  if (value instanceof ElementValue) return elementValue(value, spend) ?? ''
  return value instanceof NamedValue ? value.text() : undefined
}

/** SES-64, in steps. */
export function* writingText(value: Value, spend: Spend): Steps<string> {
  let items = 0
  let length = 0

  function* writeList(list: List, depth: number): Steps<string> {
    if (depth === MAX_DEPTH) throw tooDeep()
    spend(list.length)
    const texts: string[] = []
    let together = 0
    for (const item of list) {
      if (++items % ITEMS_PER_STEP === 0 || length > STEP) {
        length = 0
        yield
      }
      const text = scalarText(item, spend) ?? (yield* write(item, depth + 1))
      spend(text.length >> 6)
      length += text.length
      if ((together += text.length + 2) > MAX_TEXT) throw tooLong()
      texts.push(text)
    }
    return texts.join(', ')
  }

  function* write(each: Value, depth: number): Steps<string> {
    if (each !== null && isList(each)) return yield* writeList(each, depth)
    return scalarText(each, spend) ?? (yield* writingJson(each, spend))
  }

  return yield* write(value, 0)
}

/** SES-64, where nobody can wait. @throws SesselError for a List or Dictionary that takes long */
export function textForm(value: Value, spend: Spend): string {
  const text = scalarText(value, spend)
  if (text !== undefined) return text
  let taken = 0
  const counting = (steps: number) => {
    if ((taken += steps) > MOST_AT_ONCE)
      throw runtimeError('a List or Dictionary is too large to become a text here', 'limit')
    spend(steps)
  }
  return atOnce(writingText(value, counting))
}

/** SES-64, with pauses where it takes long. */
export function* textOf(value: Value, on: Evaluation): Work<string> {
  return scalarText(value, on.spend) ?? (yield* pausing(writingText(value, on.spend)))
}

/** Values whose texts are put together without a pause. */
const FEW = 100

/**
 * The texts of values, with another one between them.
 *
 * @throws SesselError where they are too long
 */
export function joined(values: List, between: string, on: Evaluation): Given {
  const isQuick = values.length <= FEW && values.every(value => typeof value !== 'object' || value === null)
  return isQuick ? joinedAtOnce(values, between, on) : new Pending(joining(values, between, on))
}

function joinedAtOnce(values: List, between: string, on: Evaluation): string {
  let text = ''
  for (let at = 0; at < values.length; at++) {
    if (at > 0) text += between
    text += scalarText(values[at] as Value, on.spend)
    if (text.length > MAX_TEXT) throw tooLong()
  }
  return counted(text, values.length, on)
}

function* joining(values: List, between: string, on: Evaluation): Work<string> {
  let text = ''
  on.spend(values.length)
  for (let at = 0; at < values.length; at++) {
    if (at > 0) text += between
    text += yield* textOf(values[at] as Value, on)
    if (text.length > MAX_TEXT) throw tooLong()
    if (on.isDue) yield undefined
  }
  return counted(text, 0, on)
}

function counted(text: string, values: number, on: Evaluation): string {
  on.spend(values + (text.length >> 8))
  on.take(32 + 2 * text.length)
  return text
}

/** Shortest decimal that reads back the same, without point where it is whole and without exponent. */
export function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const text = String(value)
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!parts) return text
  const [, sign = '', whole = '', fraction = '', power] = parts
  const exponent = Number(power)
  const digits = whole + fraction
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  return sign + digits.padEnd(exponent + 1, '0')
}
