/**
 * Conditional requests: what the fields say, and whether they let a read or a write proceed (HTTP-35 to HTTP-40); and the
 * dates that fields hold: IMF-fixdate is written, the two obsolete forms are read as well (RFC 9110 §5.6.7).
 */

import { Fault } from '../fault.ts'
import { type EntityTag, parseTagList, type TagList } from './entity-tags.ts'
import { splitFragmentTag, withoutCoding } from './tags.ts'

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

/** Header fields by lower-case name, as Node delivers them. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

/** The conditions of a request. Dates are unix seconds; dates that cannot be read count as absent. */
export interface Conditions {
  ifMatch?: TagList
  ifNoneMatch?: TagList
  ifModifiedSince?: number
  ifUnmodifiedSince?: number
}

/** @returns undefined for a request without conditions */
export function readConditions(fields: Fields): Conditions | undefined {
  const ifMatch = text(fields['if-match'])
  const ifNoneMatch = text(fields['if-none-match'])
  const ifModifiedSince = text(fields['if-modified-since'])
  const ifUnmodifiedSince = text(fields['if-unmodified-since'])
  if ((ifMatch ?? ifNoneMatch ?? ifModifiedSince ?? ifUnmodifiedSince) === undefined) return undefined
  return {
    ifMatch: ifMatch === undefined ? undefined : parseTagList(ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : parseTagList(ifNoneMatch),
    ifModifiedSince: ifModifiedSince === undefined ? undefined : parseHttpDate(ifModifiedSince),
    ifUnmodifiedSince: ifUnmodifiedSince === undefined ? undefined : parseHttpDate(ifUnmodifiedSince),
  }
}

function text(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value
}

/** When a representation last changed; without a time, date conditions are ignored. */
export interface Dated {
  /** Unix milliseconds. */
  lastModified?: number
  /** The version it replaced carried the same second, so a date cannot tell the two apart (DAV-41). */
  sameSecond?: boolean
  /** Unix milliseconds of the commit, where a client has set the time: versions before may have carried any up to this. */
  committed?: number
  /** Such a version has shown a later one: any date after the commit may be of it. */
  shownLater?: boolean | undefined
}

/** What a read would be answered with. */
export interface Representation extends Dated {
  /** `ETag` of the answer, quoted, with its coding suffix. */
  tag: string
  /**
   * For a fragment: the fragment parts of the element as served and as it is before composition. Either counts, and the
   * document part of a listed tag does not (HTTP-37).
   */
  fragmentParts?: readonly string[]
}

/** 304 with the tag that the answer carries (HTTP-40), or 412 with the tag of the representation (HTTP-39). */
export type ReadVerdict = 'proceed' | { status: 304; tag: string } | 412

/**
 * Decides a GET, HEAD or CSS QUERY whose target exists.
 *
 * @param dates `If-Modified-Since` counts: GET and HEAD only
 */
export function evaluateRead(conditions: Conditions, current: Representation, dates = true): ReadVerdict {
  const fits = (listed: EntityTag) => fitsRepresentation(listed, current)
  const { ifMatch, ifNoneMatch } = conditions
  if (ifMatch !== undefined) {
    if (ifMatch !== '*' && !ifMatch.some(listed => !listed.weak && fits(listed))) return 412
  } else if (changedSince(conditions.ifUnmodifiedSince, current)) return 412
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch === '*') return { status: 304, tag: current.tag }
    const matching = ifNoneMatch.filter(fits)
    const exact = matching.find(listed => current.tag === `"${listed.opaque}"`) ?? matching[0]
    return exact ? { status: 304, tag: `"${exact.opaque}"` } : 'proceed'
  }
  if (!dates || conditions.ifModifiedSince === undefined || current.lastModified === undefined) return 'proceed'
  return changedSince(conditions.ifModifiedSince, current) ? 'proceed' : { status: 304, tag: current.tag }
}

function fitsRepresentation(listed: EntityTag, { tag, fragmentParts }: Representation): boolean {
  const opaque = withoutCoding(listed.opaque)
  if (opaque === withoutCoding(tag.slice(1, -1))) return true
  if (fragmentParts === undefined) return false
  const parts = splitFragmentTag(opaque)
  return parts !== undefined && fragmentParts.includes(parts.fragment)
}

/** The tags that a write's conditions are compared with (HTTP-37). */
export interface WriteState extends Dated {
  /** Something is stored; for a selector write: the target was found. */
  exists: boolean
  /** (a) the stored tag and (b) the tag a whole GET by this requester would carry now; quoted. */
  tags: readonly string[]
  /** (c) for selector writes: document parts of the current version, for which every fragment tag passes. */
  documentParts?: readonly string[]
  /** (d) for selector writes: fragment parts of the target, as stored and as composed. */
  fragmentParts?: readonly string[]
}

/** @returns whether a write may proceed, or fails with 412; `preconditionFailed` makes the answer */
export function evaluateWrite(conditions: Conditions, state: WriteState): 'proceed' | 412 {
  const fits = (listed: EntityTag) => fitsState(listed, state)
  const { ifMatch, ifNoneMatch } = conditions
  if (ifMatch !== undefined) {
    const passes = state.exists && (ifMatch === '*' || ifMatch.some(listed => !listed.weak && fits(listed)))
    if (!passes) return 412
  } else if (state.exists && changedSince(conditions.ifUnmodifiedSince, state)) return 412
  if (ifNoneMatch !== undefined && state.exists && (ifNoneMatch === '*' || ifNoneMatch.some(fits))) return 412
  return 'proceed'
}

function fitsState(listed: EntityTag, { tags, documentParts, fragmentParts }: WriteState): boolean {
  const opaque = withoutCoding(listed.opaque)
  for (const tag of tags) if (withoutCoding(tag.slice(1, -1)) === opaque) return true
  const parts = splitFragmentTag(opaque)
  if (!parts) return false
  return Boolean(documentParts?.includes(parts.document) || fragmentParts?.includes(parts.fragment))
}

/** Whether the state is newer than the date; without either it does not count as changed. */
function changedSince(
  date: number | undefined,
  { lastModified, sameSecond, committed = 0, shownLater }: Dated,
): boolean {
  if (date === undefined || lastModified === undefined) return false
  const second = Math.floor(lastModified / 1000)
  if (second === date) return sameSecond === true
  return second > date || Math.floor(committed / 1000) >= date || shownLater === true
}

/**
 * Decides whether a byte range still applies.
 *
 * @param ifRange the `If-Range` field, or undefined without one
 * @param current the representation that the range is taken from. Its tag is compared as it is: the parts of two codings
 *   do not fit together
 * @returns false where the whole is to be sent (HTTP-58, DAV-41)
 */
export function rangeApplies(ifRange: string | undefined, current: Representation): boolean {
  if (ifRange === undefined) return true
  const date = parseHttpDate(ifRange)
  if (date === undefined) return ifRange === current.tag || `"${ifRange}"` === current.tag
  if (current.lastModified === undefined || current.sameSecond) return false
  return date === Math.floor(current.lastModified / 1000)
}

/**
 * @param tag the current tag, quoted; undefined if nothing exists, or the requester may not know it
 * @param exists whether something exists
 * @returns the 412 of a failed condition (HTTP-38, HTTP-39)
 */
export function preconditionFailed(tag: string | undefined, exists = tag !== undefined): Fault {
  const message = exists
    ? 'The resource is not in the state that the request names; it may have been changed meanwhile.'
    : 'The request expects something that does not exist.'
  return new Fault(412, 'PreconditionFailed', message, tag ? { headers: { ETag: tag } } : {})
}
