/** Hashes of passwords (SES-75). They run aside: nobody waits for them but the program. */

import { randomBytes } from 'node:crypto'
import { argon2 as derived } from '../argon2.ts'
import { bcrypt as hashed } from '../bcrypt.ts'
import { isDictionary, type Value } from '../values.ts'
import { typeOf } from './comparison.ts'
import { type Evaluation, typeError } from './evaluation.ts'

/** Steps that stand for a millisecond of work aside. */
const STEPS_PER_MS = 200

interface Option {
  least: number
  most: number
  usual: number
}

/** @throws SesselError for keys that are no options, or values beyond their limits */
function optionsOf<Name extends string>(
  method: string,
  value: Value | undefined,
  known: Readonly<Record<Name, Option>>,
): Record<Name, number> {
  const found: Record<string, number> = {}
  for (const name in known) found[name] = known[name].usual
  if (value !== undefined && value !== null) {
    if (!isDictionary(value)) throw typeError(`“${method}” takes a Dictionary of options, not a ${typeOf(value)}`)
    for (const key of value.keys()) {
      const option = Object.hasOwn(known, key) ? known[key as Name] : undefined
      if (!option) throw typeError(`“${method}” has no option “${key}”`)
      const given = value.get(key)
      if (typeof given !== 'bigint' || given < option.least || given > option.most)
        throw typeError(`“${key}” of “${method}” is an Integer from ${option.least} to ${option.most}`)
      found[key] = Number(given)
    }
  }
  return found as Record<Name, number>
}

const BCRYPT = { cost: { least: 4, most: 15, usual: 12 } }
/** Bytes that it hashes; whatever is behind them would fit the same hash. */
const BCRYPT_INPUT = 72

export function bcrypt(text: string, options: Value | undefined, on: Evaluation): Promise<Value> {
  const { cost } = optionsOf('bcrypt', options, BCRYPT)
  if (Buffer.byteLength(text) > BCRYPT_INPUT) throw typeError(`“bcrypt” takes a text of at most ${BCRYPT_INPUT} bytes`)
  // A cost of twelve takes a quarter of a second; each one more twice as long.
  on.spend(Math.ceil((2 ** cost / 16) * STEPS_PER_MS))
  on.readFleeting()
  return hashed(text, cost, on.allowance)
}

const ARGON2 = {
  memory: { least: 8, most: 262_144, usual: 19_456 },
  time: { least: 1, most: 10, usual: 2 },
  length: { least: 4, most: 1_024, usual: 32 },
}

export async function argon2(text: string, options: Value | undefined, on: Evaluation): Promise<Value> {
  const { memory, time, length } = optionsOf('argon2', options, ARGON2)
  // A mebibyte takes about a millisecond in each pass.
  on.spend(Math.ceil((memory / 1_024) * time * STEPS_PER_MS))
  on.readFleeting()
  const nonce = randomBytes(16)
  const parameters = { message: text, nonce, parallelism: 1, tagLength: length, memory, passes: time }
  const tag = await derived(parameters, on.allowance)
  const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/==?$/, '')
  return `$argon2id$v=19$m=${memory},t=${time},p=1$${base64(nonce)}$${base64(tag)}`
}
