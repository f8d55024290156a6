/** Multipart bodies: several elements, capability parts, several byte ranges (HTTP-65 to HTTP-67, RFC 2046 §5.1). */

import { hash } from 'node:crypto'
import type { PiecesBody } from '../answer.ts'
import { measuring, piecesOf } from '../tree/document.ts'
import type { Stretches } from '../tree/source-text.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import { type ByteRange, bytesContentRange } from './byte-ranges.ts'
import { digesting } from './digest.ts'
import { withoutControls } from './field-text.ts'

/** One part. */
export interface Part {
  /** Header fields in the order in which they are written. */
  headers: Readonly<Record<string, string>>
  /** Gets a `Content-Length` of its own; a part without content consists of its headers (HTTP-122). */
  content?: Stretches
}

/** A finished multipart body. */
export interface Multipart<Body> {
  /** `multipart/mixed; boundary=…`, the boundary unquoted and last (HTTP-66). */
  contentType: string
  body: Body
}

const BOUNDARY_LENGTH = 24

/** Short parts that are written in one step. */
const PARTS_PER_STEP = 100

/** UTF-16 code units that one piece of a long body holds at least. */
const PIECE = 64 * 1024

/** `writingMultipart` at once, for a few short parts. */
export function writeMultipart(parts: readonly Part[], boundary?: string): Multipart<Buffer> {
  const { contentType, body } = atOnce(writingMultipart(parts, boundary))
  return { contentType, body: Buffer.concat(body.pieces) }
}

/**
 * Writes `multipart/mixed`, in steps. The boundary is made from a hash of the parts: the same parts give the same bytes,
 * as a strong tag promises, and no author can write a part that contains it.
 *
 * @param boundary 1 to 70 letters and digits; replaced if it occurs in a part
 */
export function* writingMultipart(
  parts: readonly Part[],
  boundary?: string,
): Steps<Multipart<PiecesBody & { pieces: Uint8Array[] }>> {
  const texts: Stretches[][] = []
  for (const { headers, content } of parts) {
    if (texts.length % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
    if (content === undefined) texts.push([head(headers, undefined)])
    else if (content.length <= PIECE) {
      const short = content.slice(0)
      texts.push([head(headers, Buffer.byteLength(short)) + short])
    } else texts.push([head(headers, yield* measuring(content, 0, content.length)), content])
  }
  let chosen = boundary ?? (yield* digesting(inLines(texts))).slice(0, BOUNDARY_LENGTH)
  let pieces = yield* enclosing(texts, chosen)
  while (!pieces) {
    chosen = boundaryFrom(chosen)
    pieces = yield* enclosing(texts, chosen)
  }
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return { contentType: `multipart/mixed; boundary=${chosen}`, body: { pieces, size } }
}

function* inLines(texts: readonly Stretches[][]): Generator<Stretches> {
  for (const [i, each] of texts.entries()) {
    if (i > 0) yield '\n'
    yield* each
  }
}

/** @returns undefined when the boundary occurs in a part */
function* enclosing(texts: readonly Stretches[][], boundary: string): Steps<Uint8Array[] | undefined> {
  const pieces: Uint8Array[] = []
  let body = ''
  for (const [first = '', long] of texts) {
    const text = first.slice(0)
    if (text.includes(boundary) || (long && (yield* holding(long, boundary)))) return undefined
    body += `--${boundary}\r\n${text}`
    for (const piece of long ? piecesOf(long, PIECE) : []) {
      pieces.push(Buffer.from(body + piece))
      body = ''
      yield
    }
    body += '\r\n'
    if (body.length < PIECE) continue
    pieces.push(Buffer.from(body))
    body = ''
    yield
  }
  pieces.push(Buffer.from(`${body}--${boundary}--\r\n`))
  return pieces
}

/** Whether a word stands in a long text. */
function* holding(text: Stretches, word: string): Steps<boolean> {
  for (let at = 0; at < text.length; at += PIECE) {
    if (text.slice(at, at + PIECE + word.length - 1).includes(word)) return true
    yield
  }
  return false
}

/** Header lines of a part and the empty line below them. */
function head(headers: Readonly<Record<string, string>>, length: number | undefined): string {
  let text = ''
  for (const name in headers) text += `${name}: ${withoutControls(headers[name] ?? '')}\r\n`
  if (length !== undefined) text += `Content-Length: ${length}\r\n`
  return `${text}\r\n`
}

function boundaryFrom(text: string): string {
  return hash('sha256', text).slice(0, BOUNDARY_LENGTH)
}

/** A body sent piece by piece: bytes as they are, and ranges to be read from the representation. */
export interface ByterangesBody {
  contentType: string
  /** Bytes of all pieces together. */
  size: number
  pieces: (Uint8Array | ByteRange)[]
}

/**
 * Lays out `multipart/byteranges` (RFC 9110 §14.6) without touching the bytes of the representation.
 *
 * @param type content type of the representation
 * @param ranges resolved, inside the representation
 * @param size bytes of the representation
 * @param tag its strong tag. The boundary is derived from it; a file that contained it would have to contain a hash of
 *   its own hash, so the bytes need not be searched
 */
export function writeByteranges(type: string, ranges: readonly ByteRange[], size: number, tag: string): ByterangesBody {
  const boundary = boundaryFrom(`byteranges ${tag}`)
  const pieces: (Uint8Array | ByteRange)[] = []
  let total = 0
  const push = (text: string) => {
    const bytes = Buffer.from(text, 'latin1')
    pieces.push(bytes)
    total += bytes.length
  }
  ranges.forEach((range, i) => {
    const lines = { 'Content-Type': type, 'Content-Range': bytesContentRange(range, size) }
    push(`${i === 0 ? '' : '\r\n'}--${boundary}\r\n${head(lines, undefined)}`)
    pieces.push(range)
    total += range.last - range.first + 1
  })
  push(`\r\n--${boundary}--\r\n`)
  return { contentType: `multipart/byteranges; boundary=${boundary}`, size: total, pieces }
}
