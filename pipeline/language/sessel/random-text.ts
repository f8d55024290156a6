/** `String.random` (SES-77). */

import { randomInt } from 'node:crypto'
import { isDictionary, type Value } from '../values.ts'
import { tooLong, typeOf } from './comparison.ts'
import { type Evaluation, typeError } from './evaluation.ts'

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'

const ALPHABETS: Readonly<Record<string, string>> = {
  upper: UPPER,
  lower: LOWER,
  digits: DIGITS,
  symbols: '!#$%&*+-=?@^_~',
  alphanumeric: UPPER + LOWER + DIGITS,
  url_safe: `${UPPER}${LOWER}${DIGITS}-_`,
}

/** Characters of a text, and UTF-16 code units to draw from. */
const MOST = 65_536

interface Pool {
  characters: string[]
  least: number
}

export function randomText(length: Value, options: Value, on: Evaluation): string {
  if (typeof length !== 'bigint' || length < 0n || length > MOST)
    throw typeError(`“random” takes a length from 0 to ${MOST}`)
  const count = Number(length)
  on.spend(count)
  on.take(2 * count)
  const pools = poolsOf(options, on)
  const all = pools.length > 0 ? pools.flatMap(({ characters }) => characters) : [...(ALPHABETS.alphanumeric ?? '')]
  const drawn: string[] = []
  const least = pools.reduce((sum, pool) => sum + pool.least, 0)
  if (least > count) throw typeError('the minimums of “random” are more than its length')
  for (const { characters, least: wanted } of pools) for (let i = 0; i < wanted; i++) drawn.push(pick(characters))
  // No character is more likely for standing in two alphabets.
  const union = [...new Set(all)]
  while (drawn.length < count) drawn.push(pick(union))
  for (let at = drawn.length - 1; at > 0; at--) {
    const other = randomInt(at + 1)
    ;[drawn[at], drawn[other]] = [drawn[other] ?? '', drawn[at] ?? '']
  }
  return drawn.join('')
}

function pick(characters: readonly string[]): string {
  return characters[randomInt(characters.length)] ?? ''
}

function poolsOf(options: Value, on: Evaluation): Pool[] {
  if (options === null) return []
  if (!isDictionary(options)) throw typeError(`options of “random” are a Dictionary, not a ${typeOf(options)}`)
  const pools: Pool[] = []
  for (const name of options.keys()) {
    const value = options.get(name) ?? null
    if (name === 'chars') {
      if (typeof value !== 'string' || value === '') throw typeError('“chars” of “random” is a text')
      if (value.length > MOST) throw tooLong(MOST)
      on.spend(value.length)
      on.take(40 * value.length)
      pools.push({ characters: [...value], least: minimum('chars_min', options.get('chars_min') ?? 0n) })
    } else if (name === 'chars_min') {
      if (options.get('chars') === undefined) throw typeError('“chars_min” of “random” needs “chars”')
    } else if (!Object.hasOwn(ALPHABETS, name)) throw typeError(`“random” has no option “${name}”`)
    else if (value !== false) {
      pools.push({ characters: [...(ALPHABETS[name] ?? '')], least: value === true ? 0 : minimum(name, value) })
    }
  }
  return pools
}

function minimum(name: string, value: Value): number {
  if (typeof value !== 'bigint' || value < 0n || value > MOST)
    throw typeError(`“${name}” of “random” is a Boolean or a count`)
  return Number(value)
}
