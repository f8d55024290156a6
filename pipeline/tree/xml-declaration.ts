/** The first line of XML documents: `<?xml version="1.0" encoding="…"?>` (XML 1.0, 2.8 and 4.3.3). */

const DECLARATION = /^<\?xml\s[^?]*\?>/
const ENCODING = /(\sencoding\s*=\s*["'])([^"']*)/
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
const SILENT = /^(?!<\?xml)|^<\?xml\s+version\s*=\s*["'][^"']*["']\s+encoding\s*=\s*["']utf-?8["']/i

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
