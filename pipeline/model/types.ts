/** Primitive types and their exact grammars (MOD-25). */

const URL_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\0-\x20\x7f-\x9f]*$/
const NUMBER_FORM = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/
const INTEGER_FORM = /^[+-]?[0-9]+$/
const DATE_FORM = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/
const TIME_FORM = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/

const LARGEST = 2n ** 63n - 1n
const SMALLEST = -(2n ** 63n)

/** Minutes. */
const DAY = 24 * 60

/** Digits that a signed 64-bit number has at most; longer texts are numbers only when they begin with zeros. */
const DIGITS = 19

function isInteger(text: string): boolean {
  if (!INTEGER_FORM.test(text)) return false
  const negative = text.startsWith('-')
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > DIGITS) return false
  const value = BigInt(digits || '0') * (negative ? -1n : 1n)
  return value <= LARGEST && value >= SMALLEST
}

function isDate(text: string): boolean {
  const parts = DATE_FORM.exec(text)
  if (!parts) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** RFC 3339, section 5.6; the second 60 is that of a leap second, at the end of a day of UTC (section 5.7). */
function isDateTime(text: string): boolean {
  const separator = text.charAt(10)
  if (separator !== 'T' && separator !== 't') return false
  const time = TIME_FORM.exec(text.slice(11))
  if (!isDate(text.slice(0, 10)) || !time) return false
  const [hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = time
    .slice(1, 4)
    .concat(time.slice(5))
    .map(part => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return false
  if (second < 60) return true
  const ahead = (zoneHour * 60 + zoneMinute) * (time[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - ahead + 2 * DAY) % DAY === DAY - 1
}

/** Cardinalities as they are written (MOD-20). */
export const CARDINALITIES: ReadonlySet<string> = new Set(['0..1', '1..1', '0..n', '1..n'])

/** Whether a text is of a primitive type, by the type's name. */
export const PRIMITIVES: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['Text', () => true],
  ['String', () => true],
  ['URL', (text: string) => URL_FORM.test(text) && URL.canParse(text)],
  ['Number', (text: string) => NUMBER_FORM.test(text)],
  ['FloatingPoint', (text: string) => NUMBER_FORM.test(text)],
  ['Integer', isInteger],
  ['Boolean', (text: string) => text === 'true' || text === 'false'],
  ['Date', isDate],
  ['DateTime', isDateTime],
  ['Cardinal', (text: string) => CARDINALITIES.has(text)],
])
