/** Whole documents: bytes to text, text to tree, and back to bytes. */

import { isUtf8 } from 'node:buffer'
import { provingClean } from './clean.ts'
import { parsingHtml } from './html.ts'
import type { DocumentKind, TreeDocument } from './nodes.ts'
import { slimming } from './slim.ts'
import { atOnce, type Steps } from './steps.ts'
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
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const content = bom ? bytes.subarray(3) : bytes
  return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(content), bom, utf8: isUtf8(content) }
}

/** The bytes of a text, with a byte order mark in front when `bom` is set. */
export function encode(text: string, bom: boolean): Uint8Array {
  return new TextEncoder().encode(bom ? `\ufeff${text}` : text)
}
