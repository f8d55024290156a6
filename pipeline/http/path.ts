/**
 * Request targets: the one decoded path that look-up, rules, triggers, events and error documents share
 * (HTTP-10 to HTTP-16, DAV-10, DAV-11).
 */

import { isUtf8 } from 'node:buffer'
import { Fault } from '../fault.ts'
import { ownText } from '../own-text.ts'
import { normalForm } from '../tree/normal-form.ts'

/** Limits of HTTP-11, in bytes. */
const LONGEST_TARGET = 8192
/** Bytes of a decoded path. */
export const LONGEST_PATH = 1024
const LONGEST_SEGMENT = 255
const LONG = 'The path is longer than 1,024 bytes.'

/** Characters of a target that its path may keep in memory beside itself. */
const SPARE = 256

const SLASH = 0x2f
const BACKSLASH = 0x5c

/** A request target taken apart. */
export interface Target {
  /** Decoded once, in NFC, beginning with `/`. */
  path: string
  /** What follows `?`, as it was sent; undefined without `?`. */
  query?: string
  /** Host and port of an absolute-form target, as sent; it overrides `Host` (RFC 9112 §3.2.2). */
  authority?: string
}

/** Which table decides: that of the public host (HTTP-11) or that of the mount, where every bad path is 400 (DAV-10). */
export type PathRules = 'public' | 'mount'

/**
 * Takes a request target apart and decodes its path.
 *
 * @param raw the target as Node delivers it, one character per byte: origin form or absolute form
 *   (`*` of `OPTIONS *` is for the caller)
 * @param write the request is no read: overlong paths are 414 and empty segments 400, for reads both are 404
 * @throws Fault 400 `InvalidPath`, 414 `UriTooLong`, 404 `NotFound`
 */
export function decodeTarget(raw: string, rules: PathRules, write: boolean): Target {
  if (raw.length > LONGEST_TARGET) throw new Fault(414, 'UriTooLong', 'The request target is longer than 8,192 bytes.')
  let reference = raw
  let authority: string | undefined
  if (raw.charCodeAt(0) !== SLASH) {
    const absolute = splitAbsolute(raw)
    if (!absolute || !/^https?$/i.test(absolute.scheme)) throw invalid('The request target must begin with "/".')
    ;({ authority, reference } = absolute)
  }

  let end = -1
  let plain = true
  for (let i = 0; i < reference.length; i++) {
    const code = reference.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) throw invalid('The request target contains a control character.')
    if (code === 0x23) throw invalid('The request target contains "#"; in a name it is written %23.')
    if (end >= 0) continue
    if (code === 0x3f) end = i
    else if (code === BACKSLASH) throw invalid('The path contains a backslash.')
    else if (code === 0x25 || code > 0x7e) plain = false
  }
  const encoded = end < 0 ? reference : reference.slice(0, end)
  const path = plain ? (raw.length - encoded.length > SPARE ? ownText(encoded) : encoded) : decodePath(encoded)
  checkSegments(path, rules, write)

  const target: Target = { path }
  if (end >= 0) target.query = reference.slice(end + 1)
  if (authority !== undefined) target.authority = authority
  return target
}

/** An absolute URL cut behind its authority. */
export interface AbsoluteReference {
  scheme: string
  authority: string
  /** Path, query and fragment; begins with `/`. */
  reference: string
}

/** @returns the parts of `scheme://authority…`, or undefined where the text does not have that form */
export function splitAbsolute(text: string): AbsoluteReference | undefined {
  const colon = text.indexOf('://')
  if (colon < 1 || colon > 32 || !/^[a-z][a-z0-9+.-]*$/i.test(text.slice(0, colon))) return undefined
  const start = colon + 3
  let end = start
  while (end < text.length && !'/?#\\'.includes(text.charAt(end))) end++
  if (end === start) return undefined
  const rest = text.slice(end)
  const reference = rest.charCodeAt(0) === SLASH ? rest : `/${rest}`
  return { scheme: text.slice(0, colon), authority: text.slice(start, end), reference }
}

/** Percent-decodes once, as UTF-8, and composes to NFC. */
function decodePath(encoded: string): string {
  const bytes = Buffer.allocUnsafe(encoded.length)
  let length = 0
  let ascii = true
  for (let i = 0; i < encoded.length; i++) {
    let code = encoded.charCodeAt(i)
    if (code === 0x25) {
      code = hexDigit(encoded.charCodeAt(i + 1)) * 16 + hexDigit(encoded.charCodeAt(i + 2))
      if (Number.isNaN(code)) throw invalid('The path contains "%" without two hexadecimal digits.')
      if (code === SLASH || code === BACKSLASH) throw invalid('The path contains an escaped slash or backslash.')
      if (code < 0x20 || code === 0x7f) throw invalid('The path contains an escaped control character.')
      i += 2
    }
    if (code > 0xff) throw invalid('The path is not valid UTF-8.')
    if (code > 0x7f) ascii = false
    bytes[length++] = code
  }
  const decoded = bytes.subarray(0, length)
  if (ascii) return decoded.toString('latin1')
  if (!isUtf8(decoded)) throw invalid('The path is not valid UTF-8.')
  return normalForm(decoded.toString('utf8'))
}

/** @returns 0 to 15, or NaN for anything that is no hexadecimal digit */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN
}

/** Refuses empty, dot and overlong segments of a decoded path and overlong paths. */
function checkSegments(path: string, rules: PathRules, write: boolean): void {
  let start = 1
  for (let i = 1; i <= path.length; i++) {
    if (i < path.length && path.charCodeAt(i) !== SLASH) continue
    const length = i - start
    if (length === 0 && i < path.length) throw emptySegment(rules, write)
    if (length <= 2 && isDots(path, start, length)) throw invalid('The path contains a "." or ".." segment.')
    if (longerThan(path, start, i, LONGEST_SEGMENT)) throw overlong('A segment is longer than 255 bytes.', rules, write)
    start = i + 1
  }
  if (longerThan(path, 0, path.length, LONGEST_PATH)) {
    throw overlong(LONG, rules, write)
  }
}

function isDots(path: string, start: number, length: number): boolean {
  if (length === 0 || path.charCodeAt(start) !== 0x2e) return false
  return length === 1 || path.charCodeAt(start + 1) === 0x2e
}

/** Whether a slice takes more bytes in UTF-8; counts them only where the number of characters leaves that open. */
function longerThan(text: string, start: number, end: number, limit: number): boolean {
  const units = end - start
  if (units * 3 <= limit) return false
  return units > limit || Buffer.byteLength(text.slice(start, end)) > limit
}

function invalid(message: string): Fault {
  return new Fault(400, 'InvalidPath', message)
}

function emptySegment(rules: PathRules, write: boolean): Fault {
  if (write || rules === 'mount') return invalid('The path contains an empty segment ("//").')
  return new Fault(404, 'NotFound', 'No path with an empty segment ("//") exists.')
}

function overlong(message: string, rules: PathRules, write: boolean): Fault {
  if (write || rules === 'mount') return new Fault(414, 'UriTooLong', message)
  return new Fault(404, 'NotFound', 'No path of this length exists.')
}

/**
 * What a collection is refused with that would take a member to a path which no request can name (DAV-10).
 *
 * @param member its path before
 */
export function overlongMember(member: string): Fault {
  return new Fault(414, 'UriTooLong', `${member}: its path would be longer than ${LONGEST_PATH} bytes.`)
}

/**
 * Checks a path to which the server has added a name: what is stored where no request can name it, nobody could reach.
 *
 * @throws Fault 414 `UriTooLong`
 */
export function checkLength(path: string): void {
  if (longerThan(path, 0, path.length, LONGEST_PATH)) throw overlong(LONG, 'public', true)
}

/**
 * Checks a decoded path that comes from elsewhere than a request: what no request can name, nobody could reach.
 *
 * @param path in NFC
 * @throws Fault 400 `InvalidPath`, as for the target of a request
 */
export function checkReachable(path: string): void {
  if (/[\0-\x1f\x7f\\]/.test(path)) throw invalid('The path contains a backslash or a control character.')
  checkSegments(path, 'mount', true)
}

/** @returns the path by which store and events know the resource: `/blog/` is `/blog/index.html` (HTTP-13) */
export function canonicalPath(path: string): string {
  return path.charCodeAt(path.length - 1) === SLASH ? `${path}index.html` : path
}

/** What DAV-11 leaves literal, and the slash. */
const LITERAL_PATH = /^[\w\-.~!$'()*+,:;=@/]*$/

/**
 * Writes a decoded path for headers and `href`s (DAV-11, HTTP-11): UTF-8, upper-case hex; unreserved characters and
 * `! $ ' ( ) * + , : ; = @ /` stay.
 */
export function encodePath(path: string): string {
  if (LITERAL_PATH.test(path)) return path
  return encodeURI(path.toWellFormed()).replace(/[?#&]/g, encodeURIComponent)
}

/**
 * `Service-Worker-Allowed` of a script that may become none (SEC-13): browsers take no scope with an escaped slash. In a scope
 * where nothing is served it would still answer whoever is led there.
 */
export const NO_SCOPE = '/%2F'

/**
 * @param path decoded
 * @returns whether it lies under `/.{brand}/` or `/-{brand}/`, or is one of these two names itself, which would
 *   otherwise let a file take the place of the directory (HTTP-16)
 */
export function isReserved(path: string, brand: string): boolean {
  const mark = path.charCodeAt(1)
  if (mark !== 0x2e && mark !== 0x2d) return false
  if (!path.startsWith(brand, 2)) return false
  const end = 2 + brand.length
  return path.length === end || path.charCodeAt(end) === SLASH
}

/** The refusal of a write to a reserved path (HTTP-16, METH-5). */
export function reserved(): Fault {
  return new Fault(403, 'Reserved', 'This part of the site belongs to the server and cannot be written.')
}

/** @returns whether a GET may be redirected to the directory of that name: no slash at the end, no dot in the last segment (HTTP-15) */
export function mayNameDirectory(path: string): boolean {
  return path.charCodeAt(path.length - 1) !== SLASH && path.lastIndexOf('.') < path.lastIndexOf('/')
}

/** @returns whether the path looks like an HTML document without a look into the store (HTTP-123) */
export function looksLikeHtml(path: string): boolean {
  return path.lastIndexOf('.') < path.lastIndexOf('/') || /\.html?$/i.test(path)
}

/**
 * @param path decoded, without trailing slash
 * @param query raw, without `?`
 * @returns `Location` of the redirect to a directory, a path-absolute reference (HTTP-15)
 */
export function directoryLocation(path: string, query: string | undefined): string {
  return query === undefined ? `${encodePath(path)}/` : `${encodePath(path)}/?${query}`
}
