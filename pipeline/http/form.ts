/** Fields of submitted forms (COMP-22): `application/x-www-form-urlencoded` and the text fields of `multipart/form-data`. */

import { essence } from './media.ts'

/** Values of each field in their order. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/** Fields that are read; what comes behind them is left out. */
const MOST_FIELDS = 10_000
/** Bytes of the head of a part that are read. */
const LONGEST_HEAD = 8192

/**
 * @param type `Content-Type` of the body
 * @returns undefined for a body that is no form
 */
export function formFields(type: string | undefined, bytes: Uint8Array): FormFields | undefined {
  const kind = essence(type ?? '')
  if (kind === 'application/x-www-form-urlencoded')
    return collected(new URLSearchParams(Buffer.from(bytes).toString('utf8')))
  const boundary = kind === 'multipart/form-data' ? boundaryOf(type ?? '') : undefined
  return boundary === undefined
    ? undefined
    : collected(textParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), boundary))
}

/** A file that a form brings. */
export interface FormFile {
  /** Without folders, which some browsers put before it. */
  name: string
  type: string | undefined
  bytes: Uint8Array
}

/**
 * @param type `Content-Type` of the body
 * @returns files of a `multipart/form-data` body (RFC 7578), in their order; fields without a chosen file are left out
 */
export function formFiles(type: string | undefined, bytes: Uint8Array): FormFile[] {
  const boundary = essence(type ?? '') === 'multipart/form-data' ? boundaryOf(type ?? '') : undefined
  if (boundary === undefined) return []
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const files: FormFile[] = []
  // The first delimiter may stand at the very start, without a line end before it.
  let start = body.indexOf(delimiter.subarray(2)) + delimiter.length - 2
  for (let left = MOST_FIELDS; left > 0 && start >= delimiter.length - 2; left--) {
    const next = body.indexOf(delimiter, start)
    if (next < 0) break
    const part = body.subarray(start, next)
    const head = part.indexOf('\r\n\r\n')
    const fields = part.subarray(0, Math.min(Math.max(head, 0), LONGEST_HEAD)).toString('utf8')
    const name = parameter(fields, 'filename')?.replace(/^.*[\\/]/s, '') ?? ''
    if (name !== '')
      files.push({ name, type: /^content-type: *(.*)$/im.exec(fields)?.[1], bytes: part.subarray(head + 4) })
    start = next + delimiter.length
  }
  return files
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

function boundaryOf(type: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type)
  return found?.[1] ?? found?.[2]
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

/** A parameter of `Content-Disposition`. */
function parameter(fields: string, name: string): string | undefined {
  const line = fields.split('\r\n').find(each => /^content-disposition:/i.test(each)) ?? ''
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]*))`, 'i').exec(line)
  const value = found?.[1] ?? found?.[2]
  return value?.replace(/%22/g, '"').replace(/\\(.)/g, '$1')
}
