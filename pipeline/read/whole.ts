/** Whole stored bytes: documents without composition and blobs, in ranges and compressed forms (HTTP-55 to HTTP-58). */

import type { Answer, AnswerBody, BlobBody, PiecesBody } from '../answer.ts'
import { Fault } from '../fault.ts'
import { chooseCoding } from '../http/accept.ts'
import { type ByteRange, bytesContentRange, resolveByteRanges } from '../http/byte-ranges.ts'
import { cacheableOf, cacheControl, vary } from '../http/caching.ts'
import { evaluateRead, formatHttpDate, preconditionFailed, rangeApplies } from '../http/conditions.ts'
import { compressible, servedType } from '../http/media.ts'
import { writeByteranges } from '../http/multipart.ts'
import { codedTag } from '../http/tags.ts'
import type { Coding } from '../site/encodings.ts'
import { LARGEST_COMPRESSED, SMALLEST_COMPRESSED } from '../site/encodings.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Reading } from './read.ts'

/** A form of the stored bytes that is sent. */
interface Form {
  tag: string
  coding: Coding | undefined
  bytes: Uint8Array | undefined
  /** A better form is being made: this answer must not be repeated for long. */
  provisional: boolean
}

/**
 * @returns 200, 206 or 304
 * @throws Fault 412 or 416
 */
export function wholeAnswer(file: StoredFile, reading: Reading): Answer {
  const { read, shared, reuse } = reading
  const { resource, isDocument } = file
  const packed = isPacked(file)
  const ranged = read.range?.unit === 'bytes'
  const form = chooseForm(file, packed && !ranged ? read.acceptEncoding : undefined)
  // A blob sets no cookie (HTTP-151), so only what the rules say makes it personal.
  const personal = !shared || (isDocument && read.setsCookie)
  const headers: Record<string, string> = {
    ETag: form.tag,
    'Last-Modified': formatHttpDate(resource.modified),
    'Cache-Control': cacheControl(cacheableOf(file.kind, resource.type, false), personal, read.assetSeconds),
    'Accept-Ranges': isDocument ? 'selector, bytes' : 'bytes',
  }
  const varies = vary({ kind: file.kind, personal, coded: packed, cors: read.cors })
  if (varies) headers.Vary = varies
  const reusable = (answer: Answer): Answer => (reuse && !form.provisional ? { ...answer, reuse } : answer)
  const current = { tag: form.tag, lastModified: resource.modified, sameSecond: resource.sameSecond }
  if (read.conditions) {
    const verdict = evaluateRead(read.conditions, current)
    if (verdict === 412) throw preconditionFailed(form.tag)
    if (verdict !== 'proceed')
      return reusable({ status: 304, headers: { ...headers, ETag: verdict.tag }, cookieless: !isDocument })
  }
  headers['Content-Type'] = isDocument ? servedType(resource.type, file.profile?.utf8 ?? false) : resource.type
  if (form.coding) headers['Content-Encoding'] = form.coding
  if (read.range?.unit === 'bytes' && rangeApplies(read.ifRange, current)) {
    const part = rangeAnswer(file, read.range.ranges, headers)
    if (part) return { ...part, cookieless: !isDocument }
  }
  return reusable({ status: 200, headers, body: form.bytes ?? blobBody(file), cookieless: !isDocument })
}

/** Whether compressed forms of this resource are made. */
function isPacked(file: StoredFile): boolean {
  const { bytes, resource } = file
  return (
    bytes !== undefined &&
    bytes.length >= SMALLEST_COMPRESSED &&
    bytes.length <= LARGEST_COMPRESSED &&
    compressible(resource.type)
  )
}

function chooseForm(file: StoredFile, acceptEncoding: string | undefined): Form {
  const plain: Form = { tag: file.tag, coding: undefined, bytes: file.bytes, provisional: false }
  const coding = acceptEncoding === undefined ? 'identity' : chooseCoding(acceptEncoding)
  if (coding === 'identity') return plain
  const copy = file.coding(coding)
  if (copy === 'none') return plain
  if (copy === 'pending') return { ...plain, provisional: true }
  return { tag: codedTag(file.tag, coding), coding, bytes: copy, provisional: false }
}

export function blobBody(file: StoredFile): BlobBody {
  const { body } = file
  if ('bytes' in body) throw new Error('bytes in memory are no blob')
  return { blob: body.blob, start: 0, end: body.blob.size }
}

export function rangeAnswer(
  file: Pick<StoredFile, 'resource' | 'body' | 'tag'>,
  ranges: Parameters<typeof resolveByteRanges>[0],
  headers: Record<string, string>,
): Answer | undefined {
  const { size } = file.resource
  const resolved = resolveByteRanges(ranges, size)
  if (resolved === undefined) return undefined
  if (resolved === 'unsatisfiable')
    throw new Fault(416, 'InvalidRange', `The range lies outside the ${size} bytes of this resource.`, {
      headers: { 'Content-Range': bytesContentRange(undefined, size) },
    })
  const [only] = resolved
  if (resolved.length === 1 && only) {
    headers['Content-Range'] = bytesContentRange(only, size)
    return { status: 206, headers, body: slice(file, only) }
  }
  const { contentType, pieces, size: total } = writeByteranges(headers['Content-Type'] ?? '', resolved, size, file.tag)
  const body: PiecesBody = {
    size: total,
    pieces: pieces.map(piece => (piece instanceof Uint8Array ? piece : slice(file, piece))),
  }
  headers['Content-Type'] = contentType
  return { status: 206, headers, body }
}

function slice({ body }: Pick<StoredFile, 'body'>, range: ByteRange): Extract<AnswerBody, Uint8Array | BlobBody> {
  if ('bytes' in body) return body.bytes.subarray(range.first, range.last + 1)
  return { blob: body.blob, start: range.first, end: range.last + 1 }
}
