/**
 * The text of a document that is edited again and again, in pieces. V8 puts a text that was added up together as soon as
 * somebody reads a character of it: for one element of a large document that would be a copy of all of it, which lives just
 * long enough to burden the collector. What edits read, they read here.
 */

import type { TreeDocument } from './nodes.ts'

/** A stretch of a text and what stands in its place. */
interface Splice {
  start: number
  end: number
  text: string
}

/** A text, or what gives stretches of it. */
export type Stretches = Pick<SourceText, 'length' | 'slice'>

/** Pieces behind which the text is put together, once for so many edits. */
const MOST = 128

/** UTF-16 code units up to which neighbours become one piece. */
const SMALL = 1024

export class SourceText {
  /** The whole. To be kept and passed on; whoever reads it has it put together. */
  readonly source: string
  readonly #pieces: readonly string[]
  /** Where each piece begins. */
  readonly #starts: readonly number[]

  constructor(pieces: readonly string[], source = added(pieces)) {
    this.source = source
    this.#pieces = pieces
    let at = 0
    this.#starts = pieces.map(piece => {
      const start = at
      at += piece.length
      return start
    })
  }

  get length(): number {
    return this.source.length
  }

  /** How many pieces there are. */
  get pieces(): number {
    return this.#pieces.length
  }

  /** Place of the piece in which an offset lies. */
  #at(offset: number): number {
    let [from, to] = [0, this.#pieces.length - 1]
    while (from < to) {
      const middle = (from + to + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) from = middle
      else to = middle - 1
    }
    return from
  }

  /** The parts of all pieces between two offsets. */
  #between(start: number, end: number): string[] {
    const parts: string[] = []
    for (let i = this.#at(start); i < this.#pieces.length; i++) {
      const [piece = '', begin = 0] = [this.#pieces[i], this.#starts[i]]
      if (begin >= end) break
      const part = piece.slice(Math.max(0, start - begin), end - begin)
      if (part !== '') parts.push(part)
    }
    return parts
  }

  /** As of a string, for offsets that are not negative. */
  slice(start: number, end = this.length): string {
    return end <= start ? '' : added(this.#between(start, end))
  }

  startsWith(text: string, offset: number): boolean {
    return this.slice(offset, offset + text.length) === text
  }

  /** The text between two offsets, with changes in it. @param changes in order, not overlapping */
  changedBetween(changes: readonly Splice[], start: number, end: number): string {
    return added(this.#changed(changes, start, end))
  }

  /** The whole with changes in it. @param changes in order, not overlapping */
  changed(changes: readonly Splice[]): SourceText {
    const pieces: string[] = []
    for (const piece of this.#changed(changes, 0, this.length)) {
      const last = pieces.at(-1)
      if (last !== undefined && last.length + piece.length <= SMALL) pieces[pieces.length - 1] = last + piece
      else pieces.push(piece)
    }
    return pieces.length > MOST ? new SourceText([pieces.join('')]) : new SourceText(pieces)
  }

  #changed(changes: readonly Splice[], start: number, end: number): string[] {
    const parts: string[] = []
    let at = start
    for (const change of changes) {
      parts.push(...this.#between(at, change.start))
      if (change.text !== '') parts.push(change.text)
      at = change.end
    }
    parts.push(...this.#between(at, end))
    return parts
  }
}

function added(pieces: readonly string[]): string {
  let text = ''
  for (const piece of pieces) text += piece
  return text
}

const texts = new WeakMap<TreeDocument, SourceText>()

/** The text of a document, for those who read a part of it. */
export function textOf(document: TreeDocument): SourceText {
  const known = texts.get(document)
  if (known?.source === document.source) return known
  const text = new SourceText([document.source], document.source)
  texts.set(document, text)
  return text
}

/** Gives a document another text. */
export function setText(document: TreeDocument, text: SourceText): void {
  document.source = text.source
  texts.set(document, text)
}
