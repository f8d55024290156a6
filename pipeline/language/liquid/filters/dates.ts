/** Filters of dates: UTC and English, whatever the server's own (LIQ-44). */

import { type LiquidValue, plain } from '../values.ts'
import { countArgument, type FilterCall, type Filters, fail, textArgument } from './call.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const WRITTEN = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|[-+]\d\d:?\d\d)?)?$/i

const DAY = 86_400_000

/** UTF-16 code units of a format: each field of it may become a thousand. */
const LONGEST_FORMAT = 4096

/** Seconds that a JavaScript date can hold on both sides of 1970. */
const MAX_SECONDS = 8.64e12

export const DATE_FILTERS: Filters = {
  date: call => dated(call, date => formatted(date, textArgument(call, 0, '%Y-%m-%d'), call)),
  date_add: call => {
    const seconds = countArgument(call, 0)
    return dated(call, date => iso(inRange(call, date.getTime() + seconds * 1000)))
  },
  unix_to_iso: call => dated(call, iso),
  date_to_string: call => dated(call, date => formatted(date, '%d %b %Y', call)),
  date_to_long_string: call => dated(call, date => formatted(date, '%d %B %Y', call)),
  date_to_rfc822: call => dated(call, date => formatted(date, '%a, %d %b %Y %H:%M:%S +0000', call)),
  date_to_xmlschema: call => dated(call, date => formatted(date, '%Y-%m-%dT%H:%M:%S+00:00', call)),
}

function dated(call: FilterCall, write: (date: Date) => string): LiquidValue {
  const input = plain(call.input)
  return input === null || input === '' ? '' : write(dateOf(input, call))
}

function iso(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

function inRange(call: Pick<FilterCall, 'name'>, milliseconds: number): Date {
  const date = new Date(milliseconds)
  const year = date.getUTCFullYear()
  if (Number.isNaN(year) || year < 0 || year > 9999) throw fail(call, 'the date is out of range.')
  return date
}

function dateOf(input: LiquidValue, call: FilterCall): Date {
  if (typeof input === 'bigint' || typeof input === 'number') {
    if (Math.abs(Number(input)) > MAX_SECONDS) throw fail(call, 'the date is out of range.')
    return inRange(call, Math.floor(Number(input) * 1000))
  }
  if (typeof input !== 'string') throw fail(call, 'the input is no date.')
  call.run.passOver(input.length)
  const text = input.trim()
  const { now } = call.run.scope
  if (text === 'now') return new Date(now)
  if (text === 'today') return new Date(Math.floor(now / DAY) * DAY)
  if (/^-?\d{1,13}$/.test(text)) return dateOf(BigInt(text), call)
  return inRange(call, writtenDate(text, call))
}

function writtenDate(text: string, call: FilterCall): number {
  const parts = WRITTEN.exec(text)
  if (!parts) throw fail(call, 'the input is no date.')
  const [, year = '', month = '', day = '', hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts
  const numbers = [Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  const date = new Date(0)
  date.setUTCFullYear(Number(year), numbers[0], numbers[1])
  date.setUTCHours(numbers[2], numbers[3], numbers[4], Number(fraction.padEnd(3, '0').slice(0, 3)))
  const valid =
    date.getUTCMonth() === numbers[0] && date.getUTCDate() === numbers[1] && numbers[2] < 24 && numbers[3] < 60
  if (!valid || numbers[4] > 60) throw fail(call, 'the input is no date.')
  if (/z/i.test(zone)) return date.getTime()
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  if (hours > 23 || minutes > 59) throw fail(call, 'the input is no date.')
  const offset = (hours * 60 + minutes) * 60_000
  return date.getTime() + (zone.startsWith('-') ? offset : -offset)
}

function formatted(date: Date, format: string, call: FilterCall): string {
  if (format.length > LONGEST_FORMAT) throw fail(call, `the format is longer than ${LONGEST_FORMAT} characters.`)
  call.run.step(1 + format.length)
  const text = format.replace(
    /%([-_0^#:]*)(\d{0,3})([A-Za-z%+])/g,
    (written, flags: string, width: string, key: string) => {
      const value = directive(date, key, flags)
      return value === undefined ? written : flagged(value, flags, Number(width))
    },
  )
  return call.run.built(text)
}

interface Directive {
  text: string
  width?: number
  pad?: string
}

function directive(date: Date, key: string, flags: string): Directive | undefined {
  const number = (value: number, width = 2, pad = '0'): Directive => ({ text: String(value), width, pad })
  const hour = date.getUTCHours()
  const year = date.getUTCFullYear()
  const whole = (format: string): Directive => ({
    text: format.replace(/%([A-Za-z])/g, (_, inner: string) => {
      const value = directive(date, inner, '')
      return value ? flagged(value, '', 0) : ''
    }),
  })
  switch (key) {
    case 'Y':
      return number(year, 4)
    case 'C':
      return number(Math.floor(year / 100))
    case 'y':
      return number(year % 100)
    case 'm':
      return number(date.getUTCMonth() + 1)
    case 'B':
      return { text: MONTHS[date.getUTCMonth()] ?? '' }
    case 'b':
    case 'h':
      return { text: (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3) }
    case 'd':
      return number(date.getUTCDate())
    case 'e':
      return number(date.getUTCDate(), 2, ' ')
    case 'j':
      return number(dayOfYear(date), 3)
    case 'H':
      return number(hour)
    case 'k':
      return number(hour, 2, ' ')
    case 'I':
      return number(hour % 12 || 12)
    case 'l':
      return number(hour % 12 || 12, 2, ' ')
    case 'M':
      return number(date.getUTCMinutes())
    case 'S':
      return number(date.getUTCSeconds())
    case 'L':
      return number(date.getUTCMilliseconds(), 3)
    case 'N':
      return { text: `${String(date.getUTCMilliseconds()).padStart(3, '0')}000000` }
    case 'p':
      return { text: hour < 12 ? 'AM' : 'PM' }
    case 'P':
      return { text: hour < 12 ? 'am' : 'pm' }
    case 'A':
      return { text: DAYS[date.getUTCDay()] ?? '' }
    case 'a':
      return { text: (DAYS[date.getUTCDay()] ?? '').slice(0, 3) }
    case 'u':
      return number(date.getUTCDay() || 7, 1)
    case 'w':
      return number(date.getUTCDay(), 1)
    case 'U':
      return number(weekOfYear(date, date.getUTCDay()))
    case 'W':
      return number(weekOfYear(date, (date.getUTCDay() + 6) % 7))
    case 'V':
      return number(isoWeek(date).week)
    case 'G':
      return number(isoWeek(date).year, 4)
    case 'g':
      return number(isoWeek(date).year % 100)
    case 's':
      return { text: String(Math.floor(date.getTime() / 1000)) }
    case 'z':
      return { text: flags.includes(':') ? '+00:00' : '+0000' }
    case 'Z':
      return { text: 'UTC' }
    case 'c':
      return whole('%a %b %e %H:%M:%S %Y')
    case 'D':
    case 'x':
      return whole('%m/%d/%y')
    case 'F':
      return whole('%Y-%m-%d')
    case 'R':
      return whole('%H:%M')
    case 'r':
      return whole('%I:%M:%S %p')
    case 'T':
    case 'X':
      return whole('%H:%M:%S')
    case 'v':
      return whole('%e-%b-%Y')
    case '+':
      return whole('%a %b %e %H:%M:%S %Z %Y')
    case 'n':
      return { text: '\n' }
    case 't':
      return { text: '\t' }
    case '%':
      return { text: '%' }
    default:
      return undefined
  }
}

function flagged({ text, width = 0, pad = ' ' }: Directive, flags: string, given: number): string {
  let result = text
  if (flags.includes('^')) result = result.toUpperCase()
  if (flags.includes('#')) result = result === result.toUpperCase() ? result.toLowerCase() : result.toUpperCase()
  if (flags.includes('-')) return result
  const filler = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : pad
  return result.padStart(given || width, filler)
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - startOfYear(date.getUTCFullYear())) / DAY) + 1
}

function startOfYear(year: number): number {
  const start = new Date(0)
  start.setUTCFullYear(year, 0, 1)
  return start.getTime()
}

/** @param weekday days since the week's first one */
function weekOfYear(date: Date, weekday: number): number {
  return Math.floor((dayOfYear(date) + 6 - weekday) / 7)
}

/** Week of ISO 8601: the one with the year's first Thursday is the first. */
function isoWeek(date: Date): { week: number; year: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY)
  return { week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1, year: thursday.getUTCFullYear() }
}
