/**
 * Texts as HTML, XML and CSS compare and split them: by letters and white space of ASCII alone (Infra standard, section 4.6).
 * JavaScript's own functions take the sign of Kelvin for a k, and no-break spaces and byte order marks for white space, which
 * are characters of names and values to all other readers.
 */

const BEYOND_ASCII = /[^\0-\x7f]/

/** What HTML and CSS mean by case-insensitive. @returns the text with its letters of ASCII in lower case */
export function asciiLower(text: string): string {
  const lower = text.toLowerCase()
  // No text has capitals of ASCII that is its own lower case.
  if (lower === text || !BEYOND_ASCII.test(text)) return lower
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** @returns the text with its letters of ASCII in capitals, as scripts are told names of HTML, and as methods are compared */
export function asciiUpper(text: string): string {
  const upper = text.toUpperCase()
  if (upper === text || !BEYOND_ASCII.test(text)) return upper
  return text.replace(/[a-z]+/g, letters => letters.toUpperCase())
}

/** Whether a character is white space of HTML; of what may stand in XML 1.0, that is white space of XML. */
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b)
}

/** Whether a text has nothing but white space. */
export function isBlank(text: string): boolean {
  return !/[^\t\n\f\r ]/.test(text)
}

/** @returns the text without white space at both ends, in linear time */
export function trimmed(text: string): string {
  const end = endWithoutSpace(text, text.length)
  let start = 0
  while (start < end && isSpace(text.charCodeAt(start))) start++
  return text.slice(start, end)
}

/** Where the white space begins that ends at an offset; looks no further back than `least`. */
export function endWithoutSpace(text: string, end: number, least = 0): number {
  let start = end
  while (start > least && isSpace(text.charCodeAt(start - 1))) start--
  return start
}

/** @returns the words between white space, none of them empty */
export function wordsOf(text: string): string[] {
  return text.split(/[\t\n\f\r ]+/).filter(word => word !== '')
}
