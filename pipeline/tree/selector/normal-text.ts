/** Text as the server's own pseudo-classes read it (COMP-134): NFC, runs of white space one space; of long texts in steps. */

import { collapsed } from '../collapse.ts'
import { characterAt, normalForm } from '../normal-form.ts'
import type { Steps } from '../steps.ts'

/** Characters that are normalized in one step: well under a millisecond. */
const PIECE = 16 * 1024

/**
 * Before these a text may be cut in two, of which each is normalized by itself: all but marks, and the letters of Hangul and
 * Kirat Rai that are composed with one before them.
 */
export const BOUNDARY = /[^\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u{16d40}-\u{16d7f}]/u

/** The first character that may be composed with one before it. */
const COMBINING = 0x300

/** Characters on either side of a seam that normalization may change together. */
const SEAM = 64

const MARKS_ALONE = /^\p{M}+$/u

/** Normalizes one text for comparison. */
export function normalized(text: string): string {
  return collapsed(normalForm(text)).trim()
}

/** Puts together a text of parts; it is trimmed at its beginning. */
export class TextWriter {
  text = ''
  /** Whether the text is the normal form of all that was written, although its parts were normalized one by one. */
  isNormal = true
  #pending = ''
  /** Length from which on it is looked for places to cut what waits. */
  #enough = PIECE
  #startsPart = false
  #tail = ''

  /** @returns whether so much waits that it has to be written in steps, with `writing` */
  write(text: string): boolean {
    this.#pending += text
    return this.#pending.length > this.#enough
  }

  /** Writes what waits. What comes next is normalized by itself. */
  endPart(): void {
    if (this.#pending !== '') this.#add(this.#pending)
    this.#pending = ''
    this.#enough = PIECE
    this.#startsPart = true
  }

  /** Writes what waits, in steps; what cannot be told from what comes next goes on waiting. */
  *writing(): Steps<void> {
    const text = this.#pending
    let from = 0
    while (text.length - from > PIECE) {
      const end = yield* findingBoundary(text, characterAt(text, from + PIECE))
      if (end === undefined) break
      this.#add(text.slice(from, end))
      from = end
      yield
    }
    this.#pending = text.slice(from)
    // Where there is no such place, the same would be looked through with each text that comes.
    this.#enough = this.#pending.length > PIECE ? 2 * this.#pending.length : PIECE
  }

  #add(piece: string): void {
    const text = collapsed(normalForm(piece))
    const added = (this.#tail === '' || this.#tail.endsWith(' ')) && text.startsWith(' ') ? text.slice(1) : text
    if (added === '') return
    if (this.#startsPart && added.charCodeAt(0) >= COMBINING) this.isNormal &&= isNormalSeam(this.#tail, added)
    this.#startsPart = false
    this.text += added
    this.#tail = (this.#tail + added.slice(-SEAM)).slice(-SEAM)
  }
}

/** @returns the first place from another one on where the text may be cut; undefined where there is none */
function* findingBoundary(text: string, from: number): Steps<number | undefined> {
  for (let at = from; at < text.length; ) {
    const end = characterAt(text, at + PIECE)
    const found = text.slice(at, end).search(BOUNDARY)
    if (found >= 0) return at + found
    yield
    at = end
  }
  return undefined
}

/** Whether two texts in their normal form are in that form together. */
function isNormalSeam(before: string, after: string): boolean {
  const start = after.slice(0, SEAM)
  if ([before, start].some(side => side.length === SEAM && MARKS_ALONE.test(side))) return false
  return normalForm(before + start) === before + start
}
