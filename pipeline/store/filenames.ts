/** Names of resources as names of files: every name becomes one that all usual file systems accept, and no two the same. */

import { hash } from 'node:crypto'

/** Characters that Windows refuses in names, and control characters. */
const REFUSED = /[<>:"|?*\\\u0000-\u001f\u007f]/g

/** A last character that Windows drops. */
const DROPPED = /[. ]$/

/** Names that Windows takes for devices, with or without an extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i

/** Bytes of a name at most, leaving room for what makes it unique. */
const LONGEST = 200

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** Cuts a text down to a number of UTF-8 bytes without breaking a character. */
function shorten(text: string, bytes: number): string {
  let size = 0
  let kept = ''
  for (const character of text) {
    size += Buffer.byteLength(character)
    if (size > bytes) break
    kept += character
  }
  return kept
}

/** What file systems compare that ignore case or composition. */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Names already given out in one folder. */
export type TakenNames = Set<string>

/** No names given out yet but these. */
export function takenNames(...names: string[]): TakenNames {
  return new Set(names.map(fold))
}

/**
 * A file name for a resource.
 * @param name last segment of its path
 * @param taken names of the folder; the new one is added
 */
export function fileName(name: string, taken: TakenNames): string {
  const escaped = name.replace(REFUSED, escapeCharacter).replace(DROPPED, escapeCharacter).replace(DEVICE, '%$1')
  const short = shorten(escaped, LONGEST)
  let unique = short
  for (let attempt = 0; taken.has(fold(unique)) || (attempt === 0 && short !== escaped); attempt++) {
    unique = `${short}~${hash('sha256', `${name}\n${attempt}`).slice(0, 8)}`
  }
  taken.add(fold(unique))
  return unique
}
