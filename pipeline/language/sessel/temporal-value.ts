/** A point or span of time as a value (SES-190). */

import type { Temporal } from 'temporal-polyfill'
import { lazyForgetful } from '../../lazy-package.ts'
import { NamedValue } from '../values.ts'
import { typeError } from './evaluation.ts'

/** It keeps 20,000 points of time for each zone, and what it found there, where nobody bounds it. */
const polyfill = lazyForgetful<typeof import('temporal-polyfill')>('temporal-polyfill')

/** The types of the library. */
export const temporal = () => polyfill().Temporal

export type Moment =
  | Temporal.PlainDate
  | Temporal.PlainTime
  | Temporal.PlainDateTime
  | Temporal.Instant
  | Temporal.ZonedDateTime
  | Temporal.PlainYearMonth
  | Temporal.PlainMonthDay
  | Temporal.Duration

export class TemporalValue extends NamedValue {
  readonly typeName: string
  readonly value: Moment

  constructor(value: Moment) {
    super()
    this.value = value
    this.typeName = `Temporal.${nameOf(value)}`
  }

  text(): string {
    const { value } = this
    return value instanceof temporal().PlainMonthDay ? `--${value.toString()}` : value.toString()
  }

  equals(other: TemporalValue): boolean {
    if (this.typeName !== other.typeName) return false
    if (this.value instanceof temporal().Duration || other.value instanceof temporal().Duration) {
      return UNITS.every(unit => fieldOf(this.value, unit) === fieldOf(other.value, unit))
    }
    return this.value.equals(other.value as never)
  }
}

export const UNITS = 'years months weeks days hours minutes seconds milliseconds microseconds nanoseconds'.split(' ')

const NAMES = [
  'PlainDate',
  'PlainTime',
  'PlainDateTime',
  'Instant',
  'ZonedDateTime',
  'PlainYearMonth',
  'PlainMonthDay',
  'Duration',
] as const

function nameOf(value: Moment): (typeof NAMES)[number] {
  const types = temporal()
  for (const name of NAMES) if (value instanceof types[name]) return name
  throw new Error('no such type of time')
}

/** Two values of one type; undefined where the type has no order. */
export function compareTemporal(a: TemporalValue, b: TemporalValue): -1 | 0 | 1 | undefined {
  const type = temporal()[nameOf(a.value)]
  if (!('compare' in type)) return undefined
  try {
    return type.compare(a.value as never, b.value as never) as -1 | 0 | 1
  } catch (error) {
    throw refused(error)
  }
}

/** A value of the library as one of programs. @throws SesselError for what the library refuses (SES-191) */
export function made(make: () => Moment): TemporalValue {
  try {
    const value = make()
    if ('calendarId' in value && value.calendarId !== 'iso8601') throw new RangeError('only the ISO calendar is known')
    return new TemporalValue(value)
  } catch (error) {
    throw refused(error)
  }
}

/** Messages of the library that end with a value, or name it before what would be right. */
const VALUE =
  /^(Cannot parse: |Invalid [^:]*: |Non-[^:]*: |Unknown calendar )([\s\S]*?)(; (?:must be|might need) [^;]*)?$/

/** What the library refuses is a TypeError (SES-191); values stand in quotation marks, as in all messages (COMP-148). */
export function refused(error: unknown): unknown {
  if (!(error instanceof RangeError || error instanceof TypeError)) return error
  return typeError(error.message.slice(0, 200).replace(VALUE, '$1“$2”$3'))
}

export function fieldOf(value: Moment, name: string): unknown {
  return (value as unknown as Record<string, unknown>)[name]
}

/** The library knows the code of the month alone: `M03`. */
export function monthOf({ monthCode }: Temporal.PlainMonthDay): number {
  return Number(monthCode.slice(1))
}

/** A point in time. @param milliseconds since 1970 */
export function instantOf(milliseconds: number): TemporalValue {
  return new TemporalValue(temporal().Instant.fromEpochMilliseconds(milliseconds))
}
