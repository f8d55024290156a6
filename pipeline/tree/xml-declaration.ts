/** The first line of XML documents: `<?xml version="1.0" encoding="…"?>` (XML 1.0, 2.8 and 4.3.3). */

import { piecesOf } from './document.ts'
import type { Steps } from './steps.ts'

/** Names may hold a byte order mark, which is white space for JavaScript. */
const DECLARATION = /^<\?xml[\t\n\r ][^?]*\?>/
const ENCODING = /([\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["'])([^"']*)/
const UTF_8 = /^utf-?8$/i

/** @returns the declaration as it is written; empty where there is none */
export function xmlDeclaration(source: string): string {
  return DECLARATION.exec(source)?.[0] ?? ''
}

/** @returns the encoding that a declaration names, unless it is UTF-8; what is stored is UTF-8 all the same */
export function otherEncoding(source: string): string | undefined {
  const encoding = ENCODING.exec(xmlDeclaration(source))?.[2]
  return encoding === undefined || UTF_8.test(encoding) ? undefined : encoding
}

/** What names no encoding for any reader: some take every instruction for a declaration that begins like one. */
const SILENT =
  /^(?!<\?xml)|^<\?xml[\t\n\r ]+version[\t\n\r ]*=[\t\n\r ]*["'][^"']*["'][\t\n\r ]+encoding[\t\n\r ]*=[\t\n\r ]*["']utf-?8["']/i

/** @returns whether some reader may find another encoding than UTF-8 where a declaration stands */
export function mayDeclareOther(source: string): boolean {
  if (SILENT.test(source)) return false
  const end = source.indexOf('?>')
  return /encoding/i.test(end === -1 ? source : source.slice(0, end))
}

/** The declaration for markup that the server writes, which is UTF-8. */
export function writtenDeclaration(source: string): string {
  const declaration = xmlDeclaration(source)
  return otherEncoding(source) === undefined ? declaration : declaration.replace(ENCODING, '$1UTF-8')
}

/**
 * Whether a text, which is stored in UTF-8, is no text to those who read it in another encoding, in steps: browsers show an error
 * then in place of the whole document. None that they do not know is meant, nor UTF-16, for which they take no declaration.
 */
export function* findingUndecodable(text: string, encoding: string): Steps<boolean> {
  const decoder = decoderOf(encoding)
  if (!decoder || decoder.encoding.startsWith('utf-16')) return false
  try {
    for (const piece of piecesOf(text)) {
      decoder.decode(Buffer.from(piece), { stream: true })
      yield
    }
    // Text that ends within a character takes nothing from the tag behind it.
    decoder.decode()
    return false
  } catch {
    return true
  }
}

function decoderOf(encoding: string): TextDecoder | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    return undefined
  }
}
