/** Fields of submitted forms (COMP-22): `application/x-www-form-urlencoded` and the text fields of `multipart/form-data`. */

import { boundaryOf, parameter } from './form-parts.ts'
import { essence } from './media.ts'

/** Values of each field in their order. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/** Fields that are read; what comes behind them is left out. */
const MOST_FIELDS = 10_000

/**
 * @param type `Content-Type` of the body
 * @returns undefined for a body that is no form
 */
export function formFields(type: string | undefined, bytes: Uint8Array): FormFields | undefined {
  const kind = essence(type ?? '')
  if (kind === 'application/x-www-form-urlencoded')
    return collected(new URLSearchParams(Buffer.from(bytes).toString('utf8')))
  const boundary = boundaryOf(type ?? '')
  return boundary === undefined
    ? undefined
    : collected(textParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), boundary))
}

function collected(pairs: Iterable<readonly [string, string]>): FormFields {
  const fields = new Map<string, string[]>()
  let left = MOST_FIELDS
  for (const [name, value] of pairs) {
    if (left-- === 0) break
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
  }
  return fields
}

/** Parts that are no files (RFC 7578). */
function* textParts(body: Buffer, boundary: string): Generator<[string, string]> {
  const delimiter = Buffer.from(`--${boundary}`)
  let at = body.indexOf(delimiter)
  while (at >= 0) {
    const start = at + delimiter.length
    if (body[start] === 0x2d && body[start + 1] === 0x2d) return
    const next = body.indexOf(delimiter, start)
    if (next < 0) return
    const part = body.subarray(start, next)
    const head = part.indexOf('\r\n\r\n')
    if (head >= 0) {
      const fields = part.subarray(0, head).toString('utf8')
      const name = parameter(fields, 'name')
      if (name !== undefined && parameter(fields, 'filename') === undefined)
        yield [name, part.subarray(head + 4, Math.max(head + 4, part.length - 2)).toString('utf8')]
    }
    at = next
  }
}
