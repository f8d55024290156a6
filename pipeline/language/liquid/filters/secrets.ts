/** Hashes and random text (LIQ-45 to LIQ-47). */

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { piecesOf } from '../../../tree/document.ts'
import { argon2 } from '../../argon2.ts'
import { bcrypt } from '../../bcrypt.ts'
import { type LiquidValue, plain } from '../values.ts'
import { awaiting, type Work } from '../work.ts'
import { countArgument, type FilterCall, type Filters, fail, inputText, numberOf, type WorkFilters } from './call.ts'

/** The words of `diceware` (LIQ-47): two open syllables each, so that every one can be read aloud and spelled. */
const CONSONANTS = 'bdghjklmnprtvz'
const VOWELS = 'aeiou'

const SYLLABLES = [...CONSONANTS].flatMap(consonant => [...VOWELS].map(vowel => consonant + vowel))

/** 4,900 words: a little over twelve bits each. */
const WORDS: readonly string[] = SYLLABLES.flatMap(first => SYLLABLES.map(second => first + second))

const BCRYPT_CEILING = 14
/** Bytes; more would be ignored. */
const BCRYPT_INPUT = 72

const ARGON2_MEMORY = 262_144
const ARGON2_TIME = 10

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const SYMBOLS = '!#$%&()*+,-./:;<=>?@[]^_{|}~'

const MAX_LENGTH = 65_536
const MAX_WORDS = 10

export const SECRET_FILTERS: Filters = {
  random: call => {
    const length = wholeInput(call)
    if (length < 1 || length > MAX_LENGTH) throw fail(call, `the length is not in 1 to ${MAX_LENGTH}.`)
    call.run.step(1 + (length >> 5))
    return call.run.built(randomText(call, length))
  },
  diceware: call => {
    call.run.allowance.readFleeting()
    const given = plain(call.input)
    const words = given === null || given === '' ? 3 : Math.min(MAX_WORDS, Math.max(1, wholeInput(call)))
    return Array.from({ length: words }, () => WORDS[randomInt(WORDS.length)]).join('-')
  },
}

export const SECRET_WORK_FILTERS: WorkFilters = {
  *sha256(call) {
    const sum = createHash('sha256')
    for (const piece of piecesOf(inputText(call))) {
      call.run.step(1 + (piece.length >> 7))
      sum.update(piece.toWellFormed())
      yield undefined
    }
    return sum.digest('hex')
  },
  *bcrypt(call) {
    const cost = countArgument(call, 0, 12)
    const ceiling = Math.min(31, call.run.scope.bcryptCeiling ?? BCRYPT_CEILING)
    if (cost < 4 || cost > ceiling) throw fail(call, `the cost is not in 4 to ${ceiling}.`)
    const text = inputText(call)
    if (Buffer.byteLength(text) > BCRYPT_INPUT) throw fail(call, `the input is longer than ${BCRYPT_INPUT} bytes.`)
    // Doubles with each unit of cost, like the time it takes.
    call.run.step(2 ** cost)
    call.run.allowance.readFleeting()
    return yield* awaiting(bcrypt(text, cost, call.run.allowance))
  },
  *argon2(call) {
    return yield* argon2Hash(call)
  },
}

function* argon2Hash(call: FilterCall): Work<LiquidValue> {
  const option = (name: string, otherwise: number, least: number, most: number): number => {
    const given = call.named.get(name)
    if (given === undefined) return otherwise
    const number = Number(numberOf(given))
    if (!Number.isInteger(number) || number < least || number > most) {
      throw fail(call, `${name} is not in ${least} to ${most}.`)
    }
    return number
  }
  for (const name of call.named.keys()) {
    if (!['format', 'salt', 'memory', 'time', 'length'].includes(name)) throw fail(call, `there is no option ${name}.`)
  }
  if (call.args.length > 0) throw fail(call, 'options have names.')
  const format = call.named.has('format') ? call.run.text(call.named.get('format') ?? null) : 'phc'
  if (format !== 'phc' && format !== 'raw') throw fail(call, 'the format is phc or raw.')
  const memory = option('memory', 19_456, 8, ARGON2_MEMORY)
  const passes = option('time', 2, 1, ARGON2_TIME)
  const tagLength = option('length', 32, 4, 64)
  const given = call.named.get('salt')
  const salt = given === undefined ? undefined : Buffer.from(call.run.text(given))
  if (format === 'raw' && !salt) throw fail(call, 'raw needs a salt.')
  if (salt && salt.length < 8) throw fail(call, 'the salt is shorter than 8 bytes.')
  if (!salt) call.run.allowance.readFleeting()
  const nonce = format === 'raw' && salt ? salt : (salt ?? randomBytes(16))
  call.run.step(memory * passes)
  const message = Buffer.from(inputText(call))
  const key = yield* awaiting(argon2({ message, nonce, memory, passes, tagLength, parallelism: 1 }, call.run.allowance))
  if (format === 'raw') return key.toString('hex')
  const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/==?$/, '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${base64(nonce)}$${base64(key)}`
}

function wholeInput(call: FilterCall): number {
  return Math.trunc(Number(numberOf(call.input)))
}

function randomText(call: FilterCall, length: number): string {
  call.run.allowance.readFleeting()
  const { named } = call
  const sets: { characters: string[]; least: number }[] = []
  const flag = (name: string, characters: string): void => {
    const value = plain(named.get(name) ?? false)
    if (value === false) return
    const least = value === true ? 0 : Number(numberOf(value))
    if (!Number.isInteger(least) || least < 0 || least > length) throw fail(call, `${name} does not fit the length.`)
    sets.push({ characters: [...characters], least })
  }
  flag('upper', LETTERS.toUpperCase())
  flag('lower', LETTERS)
  flag('digits', DIGITS)
  flag('symbols', SYMBOLS)
  flag('alphanumeric', LETTERS.toUpperCase() + LETTERS + DIGITS)
  if (plain(named.get('url_safe') ?? false) === true) {
    sets.push({ characters: [...`${LETTERS.toUpperCase()}${LETTERS}${DIGITS}-_`], least: 0 })
  }
  if (named.has('chars')) {
    const least = Number(numberOf(named.get('chars_min') ?? 0n))
    if (!Number.isInteger(least) || least < 0) throw fail(call, 'chars_min is no count.')
    const characters = [...call.run.text(named.get('chars') ?? null).slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH)
    sets.push({ characters, least })
  }
  if (named.size === 0) sets.push({ characters: [...`${LETTERS.toUpperCase()}${LETTERS}${DIGITS}`], least: 0 })
  const alphabet = [...new Set(sets.flatMap(({ characters }) => characters))]
  if (alphabet.length === 0) throw fail(call, 'the alphabet is empty.')
  const chosen: string[] = []
  for (const { characters, least } of sets) {
    if (least > 0 && characters.length === 0) throw fail(call, 'the alphabet is empty.')
    if (chosen.length + least > length) throw fail(call, 'the minimum counts exceed the length.')
    for (let i = 0; i < least; i++) chosen.push(pick(characters))
  }
  while (chosen.length < length) chosen.push(pick(alphabet))
  for (let i = chosen.length - 1; i > 0; i--) {
    const j = randomInt(i + 1)
    const other = chosen[j] ?? ''
    chosen[j] = chosen[i] ?? ''
    chosen[i] = other
  }
  return chosen.join('')
}

function pick(characters: readonly string[]): string {
  return characters[randomInt(characters.length)] ?? ''
}
