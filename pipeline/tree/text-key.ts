/** Long texts in sets and maps. */

import { hash } from 'node:crypto'

/** UTF-16 code units up to which a text stands for itself. */
const LONGEST = 4 * 1024

/**
 * What stands for a text in a set or map. V8 makes a number of a text to find it by, but of one with more than 16,383 code
 * units it takes the length alone: with many of one length, each would be compared with all.
 *
 * @returns the text itself; of a long one a digest, which is longer than any text that stands for itself
 */
export function textKey(text: string): string {
  if (text.length <= LONGEST) return text
  // UTF-8 would make all lone surrogates alike.
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64').padEnd(LONGEST + 1)
}
