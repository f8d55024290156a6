/** Dates in header fields: IMF-fixdate is written, the two obsolete forms are read as well (RFC 9110 §5.6.7). */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Each repetition is bounded, so that none of these can take long. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/
const RFC_850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/

/**
 * @param time unix milliseconds
 * @returns an IMF-fixdate; fractions of a second are dropped
 */
export function formatHttpDate(time: number): string {
  return new Date(time).toUTCString()
}

/**
 * Reads any of the three forms of an HTTP date.
 *
 * @param now unix milliseconds; two-digit years lie at most 50 years ahead of it
 * @returns unix seconds, or undefined for anything else
 */
export function parseHttpDate(text: string, now = Date.now()): number | undefined {
  let parts = IMF_FIXDATE.exec(text)
  if (parts) return seconds(parts[3], parts[2], parts[1], parts[4], parts[5], parts[6])
  parts = RFC_850.exec(text)
  if (parts) return seconds(fullYear(Number(parts[3]), now), parts[2], parts[1], parts[4], parts[5], parts[6])
  parts = ASCTIME.exec(text)
  if (parts) return seconds(parts[6], parts[1], parts[2], parts[3], parts[4], parts[5])
  return undefined
}

function fullYear(short: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + short
  return year > thisYear + 50 ? year - 100 : year
}

type Part = string | number | undefined

function seconds(year: Part, month: Part, day: Part, hour: Part, minute: Part, second: Part): number | undefined {
  const monthIndex = MONTHS.indexOf(String(month))
  const [y, d, h, m, s] = [Number(year), Number(day), Number(hour), Number(minute), Number(second)]
  // 60 is a leap second; Date counts it as the first second of the next minute.
  if (monthIndex < 0 || h > 23 || m > 59 || s > 60) return undefined
  const date = new Date(0)
  date.setUTCFullYear(y, monthIndex, d)
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== d) return undefined
  return date.getTime() / 1000 + h * 3600 + m * 60 + s
}
