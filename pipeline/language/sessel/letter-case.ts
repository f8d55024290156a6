/** Capital and small letters of long texts (SES-75), in steps: characters of several letters take ten times as long as others. */

import { piecesOf } from '../../tree/document.ts'
import { characterAt } from '../../tree/normal-form.ts'
import type { Steps } from '../../tree/steps.ts'
import { tooLong } from './comparison.ts'

/** UTF-16 code units of a step. */
const PER_STEP = 64 * 1024

/** UTF-16 code units in which a place is looked for where a text may be cut. */
const LOOK = 1_024

/** UTF-16 code units without such a place: longer than any word. */
const LONGEST_WORD = 1024 * 1024

/** What a capital sigma becomes depends on the letters around it; nothing else does. */
const SIGMA = 'Σ'

/**
 * A character before which a text may be cut without a sigma on either side becoming another one: it ends words, or is a
 * letter behind a letter.
 */
const SEAM =
  /[^\p{Cased}\p{Case_Ignorable}]|(?<=(?![Σ\p{Case_Ignorable}])\p{Cased})(?![Σ\p{Case_Ignorable}])\p{Cased}/gu

/** `text.toUpperCase()` in steps. */
export function* uppering(text: string): Steps<string> {
  let upper = ''
  for (const piece of piecesOf(text, PER_STEP)) {
    upper += piece.toUpperCase()
    yield
  }
  return upper
}

/** `text.toLowerCase()` in steps. @throws SesselError for a text of sigmas without an end of a word */
export function* lowering(text: string): Steps<string> {
  let lower = ''
  for (const piece of text.includes(SIGMA) ? wordsOf(text) : piecesOf(text, PER_STEP)) {
    lower += piece.toLowerCase()
    yield
  }
  return lower
}

/** A text in pieces, each of which becomes small by itself as in the whole. */
function* wordsOf(text: string): Iterable<string> {
  let from = 0
  for (let next = PER_STEP; next < text.length; next += PER_STEP) {
    const at = characterAt(text, next)
    // A letter before it is looked at, too.
    const start = at - 2
    SEAM.lastIndex = at - start
    const found = SEAM.exec(text.slice(start, at + LOOK))
    if (found) {
      yield text.slice(from, start + found.index)
      from = start + found.index
    } else if (at - from > LONGEST_WORD) throw tooLong(LONGEST_WORD)
  }
  yield text.slice(from)
}
