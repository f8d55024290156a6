/** Points and spans of time (SES-190 to SES-196): the types of Temporal with the ISO calendar. */

import type { Temporal } from 'temporal-polyfill'
import { isDictionary, type Value } from '../values.ts'
import { type Evaluation, typeError } from './evaluation.ts'
import { TypeName } from './kinds.ts'
import { countArguments, integerArgument, textArgument } from './method.ts'
import { formatTemporal, localeText } from './temporal-format.ts'
import {
  compareTemporal,
  fieldOf,
  type Moment,
  made,
  monthOf,
  refused,
  TemporalValue,
  temporal,
  UNITS,
} from './temporal-value.ts'

const DATE = 'year month day dayOfWeek dayOfYear weekOfYear daysInMonth daysInYear inLeapYear'
const TIME = 'hour minute second millisecond microsecond nanosecond'
const SHIFTS = 'add subtract until since with'

interface Kind {
  readonly make: { from(value: never): Moment; compare?(a: never, b: never): number }
  accessors: ReadonlySet<string>
  methods: ReadonlySet<string>
}

function kind(make: () => Kind['make'], accessors: string, methods: string): Kind {
  const words = (text: string) => new Set(text.split(' ').filter(word => word !== ''))
  return {
    get make() {
      return make()
    },
    accessors: words(accessors),
    methods: words(`${methods} equals format toLocaleString toString`),
  }
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['PlainDate', kind(() => temporal().PlainDate, DATE, `${SHIFTS} toPlainDateTime toZonedDateTime`)],
  ['PlainTime', kind(() => temporal().PlainTime, TIME, `${SHIFTS} toPlainDateTime`)],
  [
    'PlainDateTime',
    kind(() => temporal().PlainDateTime, `${DATE} ${TIME}`, `${SHIFTS} toPlainDate toPlainTime toZonedDateTime`),
  ],
  [
    'Instant',
    kind(
      () => temporal().Instant,
      'epochSeconds epochMilliseconds epochMicroseconds epochNanoseconds',
      'add subtract until since toZonedDateTimeISO',
    ),
  ],
  [
    'ZonedDateTime',
    kind(
      () => temporal().ZonedDateTime,
      `${DATE} ${TIME} timeZoneId offset`,
      `${SHIFTS} withTimeZone toInstant toPlainDate toPlainTime toPlainDateTime`,
    ),
  ],
  [
    'PlainYearMonth',
    kind(() => temporal().PlainYearMonth, 'year month daysInMonth daysInYear inLeapYear', `${SHIFTS} toPlainDate`),
  ],
  ['PlainMonthDay', kind(() => temporal().PlainMonthDay, 'month day', 'with toPlainDate')],
  ['Duration', kind(() => temporal().Duration, `${UNITS.join(' ')} sign blank`, 'add subtract with total negated abs')],
])

function kindOf({ typeName }: TemporalValue): Kind {
  const found = KINDS.get(typeName.slice('Temporal.'.length))
  if (!found) throw new Error(`no such type: ${typeName}`)
  return found
}

/** Longest text of a moment that is looked at. */
const MAX_LENGTH = 200

/** A time zone or unit. */
function shortText(name: string, value: Value | undefined): string {
  return checkLength(textArgument(name, value))
}

function checkLength(text: string): string {
  if (text.length > MAX_LENGTH) throw typeError('the text is too long for a date or time')
  return text
}

/** Fields that the library knows; it looks at no others, however many there are. */
const FIELDS = [
  ...UNITS,
  ...'year month monthCode day hour minute second millisecond microsecond nanosecond'.split(' '),
  ...'era eraYear calendar timeZone offset'.split(' '),
]

/** Fields of a Dictionary as the library takes them. */
function fieldsOf(value: Value): Record<string, string | number> {
  const fields: Record<string, string | number> = {}
  if (value === null || !isDictionary(value)) throw typeError('a Dictionary of fields is needed')
  for (const key of FIELDS) {
    const field = value.get(key)
    if (typeof field === 'bigint') fields[key] = Number(field)
    else if (typeof field === 'string') fields[key] = checkLength(field)
    else if (typeof field === 'number') fields[key] = field
  }
  return fields
}

/** `Temporal.X.from(v)`. */
function from(name: string, value: Value): TemporalValue {
  const { make } = KINDS.get(name) ?? kindOf(value as TemporalValue)
  if (value instanceof TemporalValue && value.typeName === `Temporal.${name}`) return value
  if (typeof value === 'string') {
    checkLength(value)
    return made(() => make.from(value as never))
  }
  if (value instanceof TemporalValue) return made(() => make.from(value.value as never))
  if (name === 'Instant') throw typeError('an Instant is made of a text')
  return made(() => make.from(fieldsOf(value) as never))
}

/** An argument of a type, also as text or fields. */
function argument<T extends Moment>(name: string, value: Value | undefined): T {
  return from(name, value ?? null).value as T
}

/** What a type namespace has by a name: `Temporal.PlainDate`, `Temporal.Now`. */
export function typeMember({ name: type }: TypeName, name: string): Value {
  if (type === 'Temporal' && (KINDS.has(name) || name === 'Now')) return new TypeName(`Temporal.${name}`)
  throw typeError(`“${type}” has no member “${name}”`)
}

export function callTemporalType(type: string, name: string, args: Value[]): Value {
  const short = type.slice('Temporal.'.length)
  const [first = null, second = null] = args
  if (short === 'Now') return now(name, args)
  switch (name) {
    case 'from':
      countArguments('from', { least: 1, most: 1 }, args)
      return from(short, first)
    case 'compare': {
      const compare = KINDS.get(short)?.make.compare
      if (!compare) break
      countArguments('compare', { least: 2, most: 2 }, args)
      return BigInt(compareTemporal(from(short, first), from(short, second)) ?? 0)
    }
    case 'fromEpochSeconds':
    case 'fromEpochMilliseconds': {
      if (short !== 'Instant') break
      countArguments(name, { least: 1, most: 1 }, args)
      const count = integerArgument(name, first) * (name === 'fromEpochSeconds' ? 1_000 : 1)
      return made(() => temporal().Instant.fromEpochMilliseconds(count))
    }
  }
  throw typeError(`“${type}” has no method “${name}”`)
}

function now(name: string, args: Value[]): Value {
  countArguments(name, { least: 0, most: 1 }, args)
  const zone = args[0] === undefined || args[0] === null ? 'UTC' : shortText(name, args[0])
  switch (name) {
    case 'instant':
      return made(() => temporal().Now.instant())
    case 'zonedDateTimeISO':
      return made(() => temporal().Now.zonedDateTimeISO(zone))
    case 'plainDateISO':
      return made(() => temporal().Now.plainDateISO(zone))
    case 'plainTimeISO':
      return made(() => temporal().Now.plainTimeISO(zone))
    case 'plainDateTimeISO':
      return made(() => temporal().Now.plainDateTimeISO(zone))
  }
  throw typeError(`“Temporal.Now” has no method “${name}”`)
}

/** An accessor, as a member or as a call. */
export function temporalMember(owner: TemporalValue, name: string): Value {
  if (!kindOf(owner).accessors.has(name)) throw typeError(`a ${owner.typeName} has no member “${name}”`)
  const { value } = owner
  if (value instanceof temporal().Instant) {
    if (name === 'epochSeconds') return floorDivided(value.epochNanoseconds, 1_000_000_000n)
    if (name === 'epochMicroseconds') return floorDivided(value.epochNanoseconds, 1_000n)
    if (name === 'epochNanoseconds' && BigInt.asIntN(64, value.epochNanoseconds) !== value.epochNanoseconds)
      throw typeError('the nanoseconds are beyond 64 bits')
  }
  const field = value instanceof temporal().PlainMonthDay && name === 'month' ? monthOf(value) : fieldOf(value, name)
  if (typeof field === 'number') return BigInt(field)
  return typeof field === 'bigint' || typeof field === 'string' || typeof field === 'boolean' ? field : null
}

function floorDivided(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient
}

export function callTemporal(owner: TemporalValue, name: string, args: Value[], on: Evaluation): Value {
  const { accessors, methods } = kindOf(owner)
  if (accessors.has(name)) {
    countArguments(name, { least: 0, most: 0 }, args)
    return temporalMember(owner, name)
  }
  if (!methods.has(name)) throw typeError(`a ${owner.typeName} has no method “${name}”`)
  countArguments(name, takenBy(owner, name), args)
  try {
    const given = apply(owner, name, args, on)
    return typeof given === 'object' && given !== null ? made(() => given) : given
  } catch (error) {
    throw refused(error)
  }
}

/** Numbers of arguments, where it is not one. */
const TAKEN: ReadonlyMap<string, { least: number; most: number }> = new Map([
  ...['toString', 'toPlainTime', 'toInstant', 'negated', 'abs'].map(name => [name, { least: 0, most: 0 }] as const),
  ...['toLocaleString', 'toPlainDate', 'toPlainDateTime'].map(name => [name, { least: 0, most: 1 }] as const),
  ['total', { least: 1, most: 2 }],
])

function takenBy({ value }: TemporalValue, name: string): { least: number; most: number } {
  const hasStart = value instanceof temporal().Duration && (name === 'add' || name === 'subtract')
  return hasStart ? { least: 1, most: 2 } : (TAKEN.get(name) ?? { least: 1, most: 1 })
}

type Result = Moment | string | boolean | bigint | number

function apply(owner: TemporalValue, name: string, args: Value[], on: Evaluation): Result {
  const { value } = owner
  const short = owner.typeName.slice('Temporal.'.length)
  const [first = null, second = null] = args
  switch (name) {
    case 'toString':
      return owner.text()
    case 'equals':
      return owner.equals(from(short, first))
    case 'format':
      return formatTemporal(value, textArgument('format', first), on)
    case 'toLocaleString':
      return localeText(value, first === null ? 'en-US' : textArgument('toLocaleString', first), on)
  }
  if (value instanceof temporal().Duration) return applyToDuration(value, name, first, second)
  switch (name) {
    case 'add':
    case 'subtract': {
      const duration = argument<Temporal.Duration>('Duration', first)
      return (value as Temporal.PlainDate)[name](duration)
    }
    case 'until':
    case 'since': {
      // Unlike Temporal's own, the difference of instants is told in hours (SES-192).
      const options = value instanceof temporal().Instant ? { largestUnit: 'hour' as const } : undefined
      return (value as Temporal.Instant)[name](argument(short, first), options)
    }
    case 'with':
      return changed(value, fieldsOf(first))
    case 'toZonedDateTime':
      return (value as Temporal.PlainDateTime).toZonedDateTime(shortText(name, first))
    case 'toZonedDateTimeISO':
      return (value as Temporal.Instant).toZonedDateTimeISO(shortText(name, first))
    case 'withTimeZone':
      return (value as Temporal.ZonedDateTime).withTimeZone(shortText(name, first))
    case 'toPlainDateTime':
      return toPlainDateTime(value, first)
    case 'toPlainDate':
      return toPlainDate(value, first)
    case 'toInstant':
      return (value as Temporal.ZonedDateTime).toInstant()
  }
  return (value as Temporal.ZonedDateTime).toPlainTime()
}

function toPlainDateTime(value: Moment, first: Value): Moment {
  if (value instanceof temporal().PlainTime)
    return argument<Temporal.PlainDate>('PlainDate', first).toPlainDateTime(value)
  if (value instanceof temporal().ZonedDateTime) return value.toPlainDateTime()
  const date = value as Temporal.PlainDate
  return first === null
    ? date.toPlainDateTime()
    : date.toPlainDateTime(argument<Temporal.PlainTime>('PlainTime', first))
}

function toPlainDate(value: Moment, first: Value): Moment {
  const fields = (name: string) => (typeof first === 'bigint' ? { [name]: Number(first) } : fieldsOf(first))
  if (value instanceof temporal().PlainYearMonth) return value.toPlainDate(fields('day') as { day: number })
  if (value instanceof temporal().PlainMonthDay) return value.toPlainDate(fields('year') as { year: number })
  return (value as Temporal.PlainDateTime).toPlainDate()
}

/** `with({ timeZone })` keeps the wall clock (SES-193). */
function changed(value: Moment, { timeZone, ...fields }: Record<string, string | number>): Moment {
  const other =
    Object.keys(fields).length > 0 || timeZone === undefined ? (value as Temporal.PlainDate).with(fields) : value
  if (timeZone === undefined) return other
  if (!(other instanceof temporal().ZonedDateTime)) throw typeError('“timeZone” is a field of a ZonedDateTime alone')
  return other.toPlainDateTime().toZonedDateTime(String(timeZone))
}

function applyToDuration(value: Temporal.Duration, name: string, first: Value, second: Value): Result {
  switch (name) {
    case 'add':
    case 'subtract': {
      const other = argument<Temporal.Duration>('Duration', first)
      return summed(value, name === 'add' ? other : other.negated(), second)
    }
    case 'with':
      return value.with(fieldsOf(first))
    case 'negated':
      return value.negated()
    case 'abs':
      return value.abs()
  }
  const unit = shortText('total', first) as 'days'
  // The library finds units by name in an object, which has more names than its own: `constructor` was one, and NaN the total.
  if (!UNITS.includes(unit.endsWith('s') ? unit : `${unit}s`)) throw typeError(`“${unit}” is no unit of time`)
  const relativeTo = second === null ? undefined : startOf(second)
  const total = value.total({ unit, relativeTo })
  return Number.isSafeInteger(total) ? BigInt(total) : total
}

/** What a duration is counted from. */
function startOf(value: Value): Temporal.PlainDateTime | Temporal.ZonedDateTime {
  const moment = value instanceof TemporalValue ? value.value : undefined
  if (moment instanceof temporal().PlainDate) return moment.toPlainDateTime()
  if (moment instanceof temporal().PlainDateTime || moment instanceof temporal().ZonedDateTime) return moment
  throw typeError('“relativeTo” is a PlainDate, PlainDateTime or ZonedDateTime')
}

/** SES-194: with calendar units the sum is put to the start in one step and told in the larger unit of the two. */
function summed(a: Temporal.Duration, b: Temporal.Duration, relativeTo: Value): Temporal.Duration {
  const hasCalendar = [a, b].some(({ years, months, weeks }) => years !== 0 || months !== 0 || weeks !== 0)
  if (!hasCalendar) return a.add(b)
  if (relativeTo === null) throw typeError('durations with years, months or weeks need “relativeTo”')
  const start = startOf(relativeTo)
  const largest = UNITS.find(unit => fieldOf(a, unit) !== 0 || fieldOf(b, unit) !== 0) ?? 'seconds'
  const sums = UNITS.map(unit => [unit, Number(fieldOf(a, unit)) + Number(fieldOf(b, unit))] as const)
  const isOneWay = sums.every(([, sum]) => sum >= 0) || sums.every(([, sum]) => sum <= 0)
  const end = isOneWay ? start.add(temporal().Duration.from(Object.fromEntries(sums))) : start.add(a).add(b)
  return start.until(end as never, { largestUnit: largest as 'years' })
}

/** `text.parseDateTime()` (SES-75): the type follows from the shape. */
export function parseDateTime(text: string): Value {
  if (text.length > MAX_LENGTH || !/^[+-]?\d{4,6}-?\d\d/.test(text)) return null
  const hasTime = /[Tt ]\d/.test(text)
  const name = text.includes('[')
    ? 'ZonedDateTime'
    : !hasTime
      ? 'PlainDate'
      : /(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/.test(text.slice(10))
        ? 'Instant'
        : 'PlainDateTime'
  try {
    return from(name, text)
  } catch {
    return null
  }
}
