/** Types of settings: what an operator may write, what the server gets, and how a value is written back. */

import { z } from 'zod'
import { normalForm } from '../pipeline/tree/normal-form.ts'

/** A type of settings. */
export interface ValueType<T> {
  /** Noun phrase that completes "… is not …". */
  expected: string
  /** The same in a word or two, for tables; `expected` where it is short enough. */
  short?: string
  /** The value in the server's units, or undefined when `written` is not of this type. */
  read: (written: unknown) => T | undefined
  /** How an operator would write the value. */
  write: (value: T) => unknown
}

/** The type behind each schema made by `value`, for messages, documentation and printing. */
export const valueTypes = z.registry<Omit<ValueType<unknown>, 'read'>>()

/** A schema for one value of this type. Its only message is the expectation. */
export function value<T>(type: ValueType<T>) {
  const schema = z.unknown().transform((written, context): T => {
    const read = type.read(written)
    if (read !== undefined) return read
    context.addIssue({ code: 'custom', message: type.expected, input: written })
    return z.NEVER
  })
  const { expected, short, write } = type
  return schema.register(valueTypes, { expected, short, write: written => write(written as T) })
}

const asWritten = <T>(written: T): T => written

/**
 * Text of 1 to `longest` characters that fulfils `test`; control characters never do.
 *
 * @param short what tables call it
 */
export function text(expected: string, test: (text: string) => boolean = () => true, longest = 4096, short = 'text') {
  return value<string>({
    expected,
    short,
    read: written =>
      typeof written === 'string' &&
      written !== '' &&
      written.length <= longest &&
      !hasControls(written) &&
      test(written)
        ? written
        : undefined,
    write: asWritten,
  })
}

/** True when a text holds a C0 control character or DEL. */
export function hasControls(text: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(text)
}

/** What nobody sees, or what changes how the rest is seen: controls, marks of direction, joiners, fillers, private characters. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u

/** What `isUserName` wants, for messages. */
export const USER_NAME = 'a user name without colon, invisible characters, or look-alikes of ordinary ones'

/**
 * Whether people can tell a name to sign in with from others (RFC 8265 for user names, letter case aside).
 *
 * @returns false for a colon (RFC 7617), invisible characters, characters that stand for others (full-width and styled
 *   letters, ligatures), letters of several scripts, and spaces at the ends or side by side
 */
export function isUserName(name: string): boolean {
  if (UNSEEN.test(name) || /:|^ | $| {2}/.test(name)) return false
  const composed = normalForm(name)
  return composed.normalize('NFKC') === composed && (isAscii(name) || isOfOneScript(composed))
}

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text)

/** Scripts that names are written in (UAX #31, Table 5), those that one language writes side by side together. */
const SCRIPTS =
  `Latin|Cyrillic|Greek|Armenian|Hebrew|Arabic|Thaana|Devanagari|Bengali|Gurmukhi|Gujarati|Oriya|Tamil|Telugu|Kannada|
  Malayalam|Sinhala|Thai|Lao|Tibetan|Myanmar|Georgian|Ethiopic|Khmer|Latin Han Hiragana Katakana|Latin Han Bopomofo|
  Latin Han Hangul`
    .split('|')
    .map(scripts => scripts.trim().split(' '))

/** Of letters and digits; signs belong to all scripts. */
const inScripts = (scripts: readonly string[]) =>
  new RegExp(`^[${['Common', 'Inherited', ...scripts].map(script => `\\p{scx=${script}}`).join('')}]*$`, 'u')

/** Made when a name needs them. */
let wholes: readonly RegExp[] | undefined
let anyOther: RegExp | undefined

/**
 * UTS #39, “Highly Restrictive”: Latin beside Cyrillic or Greek makes names that look like others. Scripts that few write
 * today do not mix with those of the list.
 */
function isOfOneScript(name: string): boolean {
  wholes ??= SCRIPTS.map(inScripts)
  anyOther ??= new RegExp(`^[^${[...new Set(SCRIPTS.flat())].map(script => `\\p{scx=${script}}`).join('')}]*$`, 'u')
  const other = anyOther
  return wholes.some(whole => whole.test(name)) || other.test(name.replace(/[\p{scx=Common}\p{scx=Inherited}]/gu, ''))
}

/** Letters of other scripts that look like Latin ones, and those. */
const TWINS: readonly (readonly [string, string])[] = [
  ['аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅ', 'aeopcyxijshdqwlABEKMHOPCTYXIJS'],
  ['ονακριυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ovakpiuABEZHIKMNOPTYX'],
]

const LATIN = new Map(TWINS.flatMap(([others, latin]) => [...others].map((other, at) => [other, latin[at] ?? other])))

/** What a user name looks like: two names of one site must not look the same (UTS #39, skeletons). */
export function appearance(name: string): string {
  return Array.from(normalForm(name), letter => LATIN.get(letter) ?? letter).join('')
}

/** A text in which codes stand for what nobody sees, as JSON may write them. */
export function showingUnseen(text: string): string {
  const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll(new RegExp(UNSEEN, 'gu'), unseen => unseen.split('').map(code).join(''))
}

/** A whole number within bounds, both included; its decimal digits as text will do. */
export function whole(lowest: number, highest: number) {
  return value<number>({
    expected: `a whole number from ${lowest} to ${highest}`,
    short: `${lowest} to ${highest}`,
    read: written => {
      const number = typeof written === 'string' && /^[0-9]{1,15}$/.test(written) ? Number(written) : written
      return typeof number === 'number' && Number.isInteger(number) && number >= lowest && number <= highest
        ? number
        : undefined
    },
    write: asWritten,
  })
}

/** One of several words. */
export function oneOf<const W extends string>(...words: readonly W[]) {
  return value<W>({
    expected: `one of ${words.join(', ')}`,
    short: words.map(word => `\`${word}\``).join(' '),
    read: written => words.find(word => word === written),
    write: asWritten,
  })
}

const SWITCH = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['on', true],
  ['yes', true],
  [false, false],
  ['false', false],
  ['off', false],
  ['no', false],
])

/** Reads a switch, or gives undefined. YAML 1.2 takes `on` and `off` for text, so the words count too. */
export function readSwitch(written: unknown): boolean | undefined {
  return SWITCH.get(typeof written === 'string' ? written.toLowerCase() : written)
}

/** On or off. */
export function flag() {
  return value<boolean>({
    expected: 'true or false (on and off will do)',
    short: 'switch',
    read: readSwitch,
    write: asWritten,
  })
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
const SIZE_UNITS = new Map<string, number>([
  ['', 1],
  ...BINARY.map((unit, power): [string, number] => [unit.toLowerCase(), 1024 ** power]),
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
])

/**
 * A number of bytes, written with a unit or as a plain number.
 *
 * @param least bytes
 */
export function size(least = 0) {
  const atLeast = least === 0 ? '' : ` of at least ${writeSize(least)}`
  return value<number>({
    expected: `a size${atLeast} such as 1GiB, 64MiB, 500kB or a number of bytes`,
    short: 'size',
    read: written => {
      if (typeof written === 'number') return Number.isSafeInteger(written) && written >= least ? written : undefined
      const parts = typeof written === 'string' ? /^([0-9]{1,15})(\.[0-9]{1,6})? ?([a-z]*)$/i.exec(written) : null
      const unit = SIZE_UNITS.get((parts?.[3] ?? '').toLowerCase())
      if (!parts || unit === undefined) return undefined
      const bytes = Number(`${parts[1]}${parts[2] ?? ''}`) * unit
      return Number.isSafeInteger(bytes) && bytes >= least ? bytes : undefined
    },
    write: writeSize,
  })
}

/** A number of bytes in the largest binary unit that divides it: 67108864 is `64MiB`. */
export function writeSize(bytes: number): string | number {
  let power = 0
  while (power < BINARY.length - 1 && bytes > 0 && bytes % 1024 ** (power + 1) === 0) power++
  return power === 0 ? bytes : `${bytes / 1024 ** power}${BINARY[power]}`
}

const DAY = 86_400_000

const TIME_UNITS = new Map([
  ['d', DAY],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
])

/**
 * A time span of at most 10 years, always written with a unit; the server gets milliseconds.
 *
 * @param least milliseconds
 */
export function duration(least = 1) {
  return timeSpan('a time with a unit, such as 30d, 12h, 10m, 60s or 250ms', least, 3650 * DAY)
}

/** A time span that a timer measures: the system's timers take a longer one than 2^31 milliseconds for none at all. */
export function wait() {
  return timeSpan('a time with a unit of at most 24d, such as 12h, 10m, 60s or 250ms', 1, 24 * DAY)
}

/** @param least milliseconds, as is `most` */
function timeSpan(expected: string, least: number, most: number) {
  return value<number>({
    expected,
    short: 'time',
    read: written => {
      const parts = typeof written === 'string' ? /^([0-9]{1,12}) ?(ms|s|m|h|d)$/.exec(written) : null
      const time = Number(parts?.[1]) * (TIME_UNITS.get(parts?.[2] ?? '') ?? Number.NaN)
      return time >= least && time <= most ? time : undefined
    },
    write: writeDuration,
  })
}

/** Milliseconds in the largest unit that divides them: 600000 is `10m`. */
export function writeDuration(time: number): string {
  if (time === 0) return '0s'
  for (const [unit, length] of TIME_UNITS) if (time % length === 0) return `${time / length}${unit}`
  return `${time}ms`
}

/** A list; a single value stands for a list of one. */
export function list<S extends z.ZodType>(item: S) {
  return z.preprocess(written => (isSingle(written) ? [written] : written), z.array(item))
}

function isSingle(written: unknown): boolean {
  return typeof written === 'string' || typeof written === 'number' || typeof written === 'boolean'
}

/** An absolute http or https URL without query and fragment, and without a slash at its end: paths are appended to it. */
export function baseUrl(expected: string) {
  return text(expected, isBaseUrl, 2048, 'URL')
}

function isBaseUrl(written: string): boolean {
  const protocol = parseUrl(written)?.protocol
  return (protocol === 'https:' || protocol === 'http:') && !/[\s?#@"<>\\]|\/$/.test(written)
}

/** An origin of the web: scheme, host and port, nothing more (RFC 6454). */
export function isOrigin(written: string): boolean {
  const url = parseUrl(written)
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.origin === written
}

function parseUrl(written: string): URL | undefined {
  return URL.canParse(written) ? new URL(written) : undefined
}
