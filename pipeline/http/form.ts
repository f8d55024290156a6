/** Fields of submitted forms (COMP-22): `application/x-www-form-urlencoded` and the text fields of `multipart/form-data`. */

import { decoding, PIECE } from '../tree/document.ts'
import type { Steps } from '../tree/steps.ts'
import { boundaryOf, LONGEST_HEAD, parameter } from './form-parts.ts'
import { essence } from './media.ts'

/** Values of each field in their order. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/** Fields that are read; what comes behind them is left out. */
const MOST_FIELDS = 10_000

/** Bytes that are looked at one by one in one step, and fields that are read in one. */
const STEP = { bytes: 256 * 1024, fields: 200 }

const AMPERSAND = 0x26
const EQUALS = 0x3d
const HYPHEN = 0x2d
const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Reads a form, in steps.
 *
 * @param type `Content-Type` of the body
 * @returns undefined for a body that is no form
 */
export function* readingForm(type: string | undefined, body: Uint8Array): Steps<FormFields | undefined> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (essence(type ?? '') === 'application/x-www-form-urlencoded') return yield* reading(bytes, urlencodedFields)
  const boundary = boundaryOf(type ?? '')
  if (boundary === undefined) return undefined
  return yield* reading(bytes, (content, take) => textParts(content, boundary, take))
}

/** Takes a field. @returns whether more are wanted */
type Take = (name: string, value: string) => boolean

function* reading(bytes: Buffer, fieldsOf: (bytes: Buffer, take: Take) => Steps<void>): Steps<FormFields> {
  const fields = new Map<string, string[]>()
  let left = MOST_FIELDS
  yield* fieldsOf(bytes, (name, value) => {
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
    return --left > 0
  })
  return fields
}

/** Fields of `application/x-www-form-urlencoded`, as the URL standard reads them. */
function* urlencodedFields(bytes: Buffer, take: Take): Steps<void> {
  let read = 0
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === AMPERSAND) {
      at++
      if (at % STEP.bytes === 0) yield
      continue
    }
    const next = bytes.indexOf(AMPERSAND, at)
    const end = next < 0 ? bytes.length : next
    const equals = bytes.subarray(at, end).indexOf(EQUALS)
    const middle = equals < 0 ? end : at + equals
    const name = yield* percentDecoded(bytes.subarray(at, middle))
    const value = yield* percentDecoded(bytes.subarray(Math.min(middle + 1, end), end))
    // As one in a part: V8 compares long names of one length with each other.
    if (middle - at <= LONGEST_HEAD && !take(name, value)) return
    if (++read % STEP.fields === 0) yield
    at = end + 1
  }
}

function* percentDecoded(bytes: Buffer): Steps<string> {
  if (!bytes.includes(PLUS) && !bytes.includes(PERCENT)) return yield* textOf(bytes)
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const code = byte === PERCENT ? hexadecimal(bytes[at + 1]) * 16 + hexadecimal(bytes[at + 2]) : Number.NaN
    if (code >= 0) at += 2
    decoded[length++] = code >= 0 ? code : byte === PLUS ? SPACE : byte
    if (length % STEP.bytes === 0) yield
  }
  return yield* textOf(decoded.subarray(0, length))
}

/** The value of a digit; NaN where the byte is none. */
function hexadecimal(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

/** Bytes as UTF-8, in steps. A byte order mark is a character as any other. */
export function* textOf(bytes: Buffer): Steps<string> {
  if (bytes.length <= PIECE) return bytes.toString('utf8')
  const { text, bom } = yield* decoding(bytes)
  return bom ? `\ufeff${text}` : text
}

/** Parts that are no files (RFC 7578). One whose head is longer than 8 KiB is left out. */
function* textParts(body: Buffer, boundary: string, take: Take): Steps<void> {
  const delimiter = Buffer.from(`--${boundary}`)
  let at = yield* placeOf(delimiter, body, 0)
  for (let read = 1; at >= 0; read++) {
    const start = at + delimiter.length
    if (body[start] === HYPHEN && body[start + 1] === HYPHEN) return
    const next = yield* placeOf(delimiter, body, start)
    if (next < 0) return
    const part = body.subarray(start, next)
    const head = part.subarray(0, LONGEST_HEAD).indexOf('\r\n\r\n')
    if (head >= 0) {
      const fields = part.subarray(0, head).toString('utf8')
      const name = parameter(fields, 'name')
      if (name !== undefined && parameter(fields, 'filename') === undefined) {
        const value = yield* textOf(part.subarray(head + 4, Math.max(head + 4, part.length - 2)))
        if (!take(name, value)) return
      }
    }
    if (read % STEP.fields === 0) yield
    at = next
  }
}

/** `indexOf` in steps: a delimiter that the body nearly holds everywhere takes long to be told from it. */
function* placeOf(delimiter: Buffer, body: Buffer, from: number): Steps<number> {
  for (let at = from; at < body.length; at += STEP.bytes) {
    const found = body.subarray(at, at + STEP.bytes + delimiter.length - 1).indexOf(delimiter)
    if (found >= 0) return at + found
    yield
  }
  return -1
}
