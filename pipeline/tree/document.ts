/** Whole documents: bytes to text, text to tree, and back to bytes. */

import { isUtf8 } from 'node:buffer'
import { createHash, hash } from 'node:crypto'
import { provingClean } from './clean.ts'
import { parsingHtml } from './html.ts'
import type { DocumentKind, TreeDocument } from './nodes.ts'
import { slimming } from './slim.ts'
import type { Stretches } from './source-text.ts'
import { atOnce, inTurns, type Steps } from './steps.ts'
import { parsingXml } from './xml.ts'

export { TreeError, type TreeReason } from './limits.ts'

/**
 * Parses a stored document (HTTP-23).
 *
 * @param source the text, without byte order mark
 * @throws TreeError when a limit is exceeded, or the text is not well-formed XML
 */
export function parseDocument(kind: DocumentKind, source: string): TreeDocument {
  return atOnce(parsingDocument(kind, source))
}

/** `parseDocument` in steps. */
export function* parsingDocument(kind: DocumentKind, source: string): Steps<TreeDocument> {
  if (kind === 'xml') {
    const root = yield* parsingXml(source)
    yield* slimming(root, source)
    return { kind, source, root, clean: true }
  }
  const root = yield* parsingHtml(source)
  const clean = yield* provingClean(root, source)
  yield* slimming(root, source)
  return { kind, source, root, clean }
}

export interface Decoded {
  /** The text without byte order mark. */
  text: string
  /** Whether the bytes begin with a byte order mark. */
  bom: boolean
  /** Whether the bytes are valid UTF-8; if not, `text` cannot be turned back into them (HTTP-25). */
  utf8: boolean
}

/**
 * Reads bytes as UTF-8. `encode(text, bom)` gives the same bytes again when they are valid.
 */
export function decode(bytes: Uint8Array): Decoded {
  const content = withoutMark(bytes)
  const bom = content !== bytes
  return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(content), bom, utf8: isUtf8(content) }
}

/** The bytes of a text behind its byte order mark, if it has one. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** The same as `decode`, in steps where it is long. */
export function decodeInTurn(bytes: Uint8Array): Decoded | Promise<Decoded> {
  return bytes.length <= PIECE ? decode(bytes) : inTurns(decoding(bytes), bytes.length)
}

/** `decode` in steps. */
export function* decoding(bytes: Uint8Array): Steps<Decoded> {
  if (bytes.length <= PIECE) return decode(bytes)
  const content = withoutMark(bytes)
  const bom = content !== bytes
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parts: string[] = []
  for (let at = 0; at < content.length; at += PIECE) {
    parts.push(decoder.decode(content.subarray(at, at + PIECE), { stream: at + PIECE < content.length }))
    yield
  }
  const text = parts.join('')
  yield
  return { text, bom, utf8: isUtf8(content) }
}

/** The bytes of a text, with a byte order mark in front when `bom` is set. */
export function encode(text: string, bom: boolean): Uint8Array {
  return new TextEncoder().encode(bom ? `\ufeff${text}` : text)
}

/** UTF-16 code units or bytes that are encoded, copied or hashed in one step: a few milliseconds. */
export const PIECE = 2 * 1024 * 1024

/**
 * A long text in pieces, none of which ends within a character.
 *
 * @param size UTF-16 code units of a piece
 * @param start offset in the text
 * @param end offset in the text
 */
export function* piecesOf(text: Stretches, size = PIECE, start = 0, end = text.length): Iterable<string> {
  for (let at = start; at < end; ) {
    const next = at + size
    // A character may take two code units.
    const isWithin = next < end && /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(next - 1, next + 1))
    const to = Math.min(end, isWithin ? next + 1 : next)
    yield text.slice(at, to)
    at = to
  }
}

/** Bytes that a stretch of a text takes in UTF-8. */
export function* measuring(text: Stretches, start: number, end: number): Steps<number> {
  if (end - start <= PIECE) return Buffer.byteLength(text.slice(start, end))
  let length = 0
  // The whole of a text that was edited would be put together for it.
  for (const piece of piecesOf(text, PIECE, start, end)) {
    length += Buffer.byteLength(piece)
    yield
  }
  return length
}

/** The same as `encode`, in steps. */
export function* encoding(text: Stretches, bom: boolean): Steps<Uint8Array> {
  if (text.length <= PIECE) return encode(text.slice(0), bom)
  const mark = encode('', bom)
  const bytes = Buffer.allocUnsafeSlow(mark.length + (yield* measuring(text, 0, text.length)))
  bytes.set(mark)
  const encoder = new TextEncoder()
  let at = mark.length
  for (const piece of piecesOf(text)) {
    yield
    at += encoder.encodeInto(piece, bytes.subarray(at)).written
  }
  return bytes
}

/** @returns SHA-256 of bytes, 64 hex digits, in steps */
export function* digestingBytes(bytes: Uint8Array): Steps<string> {
  if (bytes.length <= PIECE) return hash('sha256', bytes)
  const sum = createHash('sha256')
  for (let at = 0; at < bytes.length; at += PIECE) {
    sum.update(bytes.subarray(at, at + PIECE))
    yield
  }
  return sum.digest('hex')
}

/** The same, at once where the bytes are few. */
export function digestOf(bytes: Uint8Array): string | Promise<string> {
  return bytes.length <= PIECE ? hash('sha256', bytes) : inTurns(digestingBytes(bytes), bytes.length)
}

/** Stretches of bytes as one, in steps. */
export function* joining(parts: readonly Uint8Array[]): Steps<Buffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= PIECE) return Buffer.concat(parts, length)
  const bytes = Buffer.allocUnsafeSlow(length)
  let end = 0
  for (const part of parts) {
    for (let at = 0; at < part.length; at += PIECE) {
      bytes.set(part.subarray(at, at + PIECE), end + at)
      yield
    }
    end += part.length
  }
  return bytes
}
