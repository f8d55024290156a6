/** Times as text for people (SES-196). */

import { type Evaluation, typeError } from './evaluation.ts'
import { type Moment, monthOf, temporal } from './temporal-value.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** What the fields of a moment are, as far as it has them. */
interface Fields {
  year?: number
  month?: number
  day?: number
  dayOfWeek?: number
  hour?: number
  minute?: number
  second?: number
  millisecond?: number
  timeZoneId?: string
  epochMilliseconds?: number
}

type Part = (fields: Fields, on: Evaluation) => string | undefined

function padded(name: keyof Fields, width: number): Part {
  return fields => {
    const value = fields[name]
    return value === undefined ? undefined : String(value).padStart(width, '0')
  }
}

function named(name: keyof Fields, names: readonly string[], length?: number): Part {
  return fields => names[Number(fields[name] ?? 0) - 1]?.slice(0, length)
}

const twelve: Part = ({ hour }) => (hour === undefined ? undefined : String(hour % 12 === 0 ? 12 : hour % 12))

const PARTS: Readonly<Record<string, Part>> = {
  yyyy: ({ year }) =>
    year === undefined ? undefined : `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}`,
  yy: ({ year }) => (year === undefined ? undefined : String(Math.abs(year) % 100).padStart(2, '0')),
  MMMM: named('month', MONTHS),
  MMM: named('month', MONTHS, 3),
  MM: padded('month', 2),
  M: padded('month', 1),
  dd: padded('day', 2),
  d: padded('day', 1),
  EEEE: named('dayOfWeek', DAYS),
  EEE: named('dayOfWeek', DAYS, 3),
  HH: padded('hour', 2),
  H: padded('hour', 1),
  hh: (fields, on) => twelve(fields, on)?.padStart(2, '0'),
  h: twelve,
  mm: padded('minute', 2),
  m: padded('minute', 1),
  ss: padded('second', 2),
  s: padded('second', 1),
  SSS: padded('millisecond', 3),
  a: ({ hour }) => (hour === undefined ? undefined : hour < 12 ? 'AM' : 'PM'),
  z: zoneName,
}

const TOKENS = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g

/** Longest pattern. */
const MAX_PATTERN = 1_000

/** @throws SesselError for letters that mean nothing, or a field that the value has not */
export function formatTemporal(value: Moment, pattern: string, on: Evaluation): string {
  if (pattern.length > MAX_PATTERN) throw typeError(`a pattern has at most ${MAX_PATTERN} characters`)
  on.spend(1 + (pattern.length >> 2))
  const fields = fieldsOf(value)
  return pattern.replace(TOKENS, (token: string, quoted?: string, letter?: string) => {
    if (quoted !== undefined) return quoted === '' ? "'" : quoted.replaceAll("''", "'")
    if (token === "'") throw typeError('a quotation mark of the pattern is not closed')
    if (letter === undefined) return token
    const part = Object.hasOwn(PARTS, token) ? PARTS[token] : undefined
    if (!part) throw typeError(`“${token}” means nothing in a pattern`)
    const text = part(fields, on)
    if (text === undefined) throw typeError(`the value has no field for “${token}”`)
    return text
  })
}

function fieldsOf(value: Moment): Fields {
  if (value instanceof temporal().Duration) return {}
  if (value instanceof temporal().PlainMonthDay) return { month: monthOf(value), day: value.day }
  return (value instanceof temporal().Instant ? value.toZonedDateTimeISO('UTC') : value) as Fields
}

/** What it takes to make a formatter of the engine: a quarter of a millisecond, and memory that the heap does not show. */
function takeFormatter(on: Evaluation): void {
  on.spend(500)
  on.take(32 * 1024)
}

/** Formatters by time zone. */
const zones = new Map<string, Intl.DateTimeFormat>()
const MOST_ZONES = 100

function formatterFor(timeZone: string, on: Evaluation): Intl.DateTimeFormat {
  const known = zones.get(timeZone)
  if (known) return known
  takeFormatter(on)
  const made = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' })
  if (zones.size >= MOST_ZONES) zones.clear()
  zones.set(timeZone, made)
  return made
}

/** `EDT`, `GMT`, `UTC` or `GMT+h`. */
function zoneName({ timeZoneId, epochMilliseconds }: Fields, on: Evaluation): string | undefined {
  if (timeZoneId === undefined || epochMilliseconds === undefined) return undefined
  if (timeZoneId === 'UTC') return 'UTC'
  on.spend(20)
  const parts = formatterFor(timeZoneId, on).formatToParts(epochMilliseconds)
  return parts.find(({ type }) => type === 'timeZoneName')?.value
}

/** @param tag language tag (ECMA-402) */
export function localeText(value: Moment, tag: string, on: Evaluation): string {
  if (tag.length > 100) throw typeError('the language tag is too long')
  takeFormatter(on)
  if (value instanceof temporal().Instant) return value.toLocaleString(tag, { timeZone: 'UTC' })
  if (value instanceof temporal().PlainYearMonth || value instanceof temporal().PlainMonthDay) {
    // The calendar of a language has to be that of the value.
    const [language = tag] = tag.split('-u-')
    return value.toLocaleString(`${language}-u-ca-iso8601`)
  }
  return value.toLocaleString(tag)
}
