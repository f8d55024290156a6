/** White space of texts: every run of it becomes one space, and the ends have none. */

import { LONG, LongText } from './long-text.ts'
import type { Steps } from './steps.ts'

/** Runs that are no single space: most texts have few of them. */
const RUNS = /\s{2,}|[^\S ]/g

/** @returns the text as `replace(/\s+/g, ' ')` leaves it */
export function collapsed(text: string): string {
  return text.replace(RUNS, ' ')
}

/**
 * `collapsed` without space at its ends, in steps.
 *
 * @param runs what is to become one space, wherever it is not one already
 */
export function* collapsing(text: string, runs = RUNS): Steps<string> {
  if (text.length <= LONG) return text.replace(runs, ' ').replace(/^ | $/g, '')
  const whole = new LongText()
  let endsInSpace = true
  for (let at = 0; at < text.length; at += LONG) {
    const piece = text.slice(at, at + LONG).replace(runs, ' ')
    const added: string = endsInSpace && piece.startsWith(' ') ? piece.slice(1) : piece
    if (added !== '') endsInSpace = added.endsWith(' ')
    whole.add(added)
    yield
  }
  return endsInSpace ? whole.whole.slice(0, -1) : whole.whole
}
