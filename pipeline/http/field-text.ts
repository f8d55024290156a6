/** Text in header fields: Node hands over and takes fields as ISO 8859-1, while clients put UTF-8 bytes into them. */

import { isUtf8 } from 'node:buffer'

const ASCII = /^[\0-\x7f]*$/

/**
 * Reads a header value as people wrote it (HTTP-45).
 *
 * @param value one character per byte, as Node delivers it
 * @returns the bytes read as UTF-8, or as ISO 8859-1 where they are not valid UTF-8
 */
export function decodeField(value: string): string {
  if (ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}

/** @returns the text with a space for each control character but the tab, so that it cannot end a header line */
export function withoutControls(text: string): string {
  return text.replace(/[\0-\x08\x0a-\x1f\x7f]/g, ' ')
}

/**
 * Takes spaces and tabs off both ends (OWS of RFC 9110 §5.6.3). `String.trim` would also take the byte A0, which ends
 * characters such as `à` in UTF-8.
 */
export function trimField(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return start === 0 && end === value.length ? value : value.slice(start, end)
}

/** @param code a character code; @returns whether it is a space or tab */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** @returns whether the text is one or more decimal digits */
export function isDigits(text: string): boolean {
  if (text === '') return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}
