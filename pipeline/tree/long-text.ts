/** Markup that is too long to be written in one step. */

import { constants } from 'node:buffer'
import { HeapError } from './heap.ts'
import { type ElementNode, isText } from './nodes.ts'
import { SourceText, type Stretches } from './source-text.ts'
import type { Steps } from './steps.ts'

/** UTF-16 code units that are written in one step. */
export const LONG = 64 * 1024

/** What may stand behind the end tags of these elements, the parser puts into them all the same. */
const OPEN_ENDED = new Set(['html', 'head', 'body', 'form'])

/**
 * Whether an element is written in one step. One whose tags are implied may be of any length, and so may a body without end
 * tag, whose place is that of its start tag, one behind whose end tag more follows, and a link that the start of another one
 * ends within a table: the table goes on inside it.
 */
export function isShort(element: ElementNode): boolean {
  const { tagName, sourceCodeLocation: place, childNodes } = element
  if (!place) return isShortLeaf(element)
  const isWhole =
    childNodes.length === 0 || (place.endOffset !== place.startTag?.endOffset && (tagName !== 'a' || !!place.endTag))
  return isWhole && place.endOffset - place.startOffset < LONG && !OPEN_ENDED.has(tagName)
}

/** Most elements of a page that is put together hold one text or nothing. */
function isShortLeaf({ attrs, childNodes, content }: ElementNode): boolean {
  const [only] = childNodes
  if (childNodes.length > 1 || content || (only && !isText(only))) return false
  let length = only?.value.length ?? 0
  for (const { value } of attrs) length += value.length
  return length < LONG
}

/**
 * Writes a text, of whatever length, in steps.
 *
 * @param written gives the markup of a part; parts may be cut anywhere
 */
export function* writingText(text: string, markup: LongText, written: (part: string) => string): Steps<void> {
  for (let at = 0; at < text.length; at += LONG) if (markup.add(written(text.slice(at, at + LONG)))) yield
}

/** UTF-16 code units that are compared in one step. */
const COMPARED = 256 * 1024

/** Whether two texts, of whatever length, are the same; in steps. */
export function* comparingTexts(one: string, other: string): Steps<boolean> {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at += COMPARED) {
    if (one.slice(at, at + COMPARED) !== other.slice(at, at + COMPARED)) return false
    yield
  }
  return true
}

/** UTF-16 code units of a text that a pattern is looked for in one step. */
const SEARCHED = 1024 * 1024
/** UTF-16 code units that a match there takes at most, with what it looks at. */
const MATCHED = 64

/** Whether a pattern of few code units, which looks at nothing before them, matches in a text of whatever length; in steps. */
export function* testing(pattern: RegExp, text: string): Steps<boolean> {
  if (text.length <= SEARCHED) return pattern.test(text)
  for (let at = 0; at < text.length; at += SEARCHED) {
    const found = text.slice(at, at + SEARCHED + MATCHED).search(pattern)
    // What begins behind them may be cut.
    if (found !== -1 && found < SEARCHED) return true
    yield
  }
  return false
}

/** What was read last of a text: V8 leaves out reading what nobody uses. */
let seen = 0

/**
 * V8 keeps a sum of texts as its pieces until somebody reads it, and then copies all of them at once: that is done here, for
 * few pieces at a time.
 *
 * @returns the same text in one piece
 */
export function inOnePiece(text: string): string {
  seen = text.length > 0 ? text.charCodeAt(0) : seen
  return text
}

/** `inOnePiece` of a text that is long, in a step of its own. */
export function* puttingInOnePiece(text: string): Steps<void> {
  yield
  inOnePiece(text)
  yield
}

/** Part of a text that may be in pieces: to put it together copies all of it, so that it is not done more often. */
const LOOSE = 1 / 8

/**
 * Keeps a text that others make longer, by pieces as small as one code unit, from becoming a sum of millions of pieces.
 *
 * @param join makes a text one piece
 * @returns is to be called with the text as it is now, again and again; all calls together take time in proportion to its length
 */
export function keepingTogether(join: (text: string) => void = inOnePiece): (text: string) => void {
  let joined = 0
  return text => {
    // Another text has begun.
    if (text.length < joined) joined = 0
    if (text.length - joined < Math.max(LONG, text.length * LOOSE)) return
    join(text)
    joined = text.length
  }
}

/** Pieces behind which it is time for a pause, however short they are: each may be an element. */
const MANY = 500

/** A text that grows by small pieces. */
export class LongText {
  readonly #pieces: string[] = []
  #latest = ''
  /** Pieces since the last pause. */
  #added = 0
  /** UTF-16 code units so far. */
  length = 0

  /**
   * @returns whether it is time for a pause
   * @throws HeapError where all together are longer than a text can be
   */
  add(piece: string): boolean {
    this.length += piece.length
    if (this.length > constants.MAX_STRING_LENGTH) throw new HeapError('long')
    if (piece.length >= LONG) {
      this.#keep()
      this.#pieces.push(piece)
    } else {
      this.#latest += piece
      if (this.#latest.length >= LONG) this.#keep()
      else if (++this.#added < MANY) return false
    }
    this.#added = 0
    return true
  }

  /** The text so far. Whoever reads it puts all of it together. */
  get whole(): string {
    this.#keep()
    let whole = ''
    for (const piece of this.#pieces) whole += piece
    return whole
  }

  /** The same for those who read a part at a time, however long it is. */
  get stretches(): Stretches {
    this.#keep()
    const [only = ''] = this.#pieces
    return this.#pieces.length > 1 ? new SourceText(this.#pieces) : only
  }

  #keep(): void {
    if (this.#latest !== '') this.#pieces.push(inOnePiece(this.#latest))
    this.#latest = ''
  }
}
