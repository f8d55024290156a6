/** What a template, or a `capture` in it, has written, and where in markup that leads. */

import { piecesOf } from '../../tree/document.ts'
import { behind } from './markup.ts'
import type { Place, Position } from './place.ts'
import type { TextNode } from './template.ts'
import type { Safe, Span } from './values.ts'
import type { Work } from './work.ts'

/** UTF-16 code units that are read, or escaped and printed, without a pause. */
export const PIECE = 128 * 1024

/** What is taken for a part of a captured text that is data. */
export const SPAN_BYTES = 48

/** Characters that are kept of what was written last. */
const TAIL = 12

export class Output {
  text = ''
  tail = ''
  /** What was written last is data. */
  endsInData = false
  place: Place
  /** Parts that are data, of what is captured. */
  readonly data: Span[] | undefined

  constructor(start: Place, isCaptured = false) {
    this.place = start
    if (isCaptured) this.data = []
  }

  /**
   * Takes note of data that is written next.
   *
   * @returns whether it is a part of its own: data that follows other data of its kind at once is one with it
   */
  note(piece: string, position: Position): boolean {
    const { data, text } = this
    const end = text.length + piece.length
    const last = data?.at(-1)
    if (data && last?.[1] === text.length && last[2] === position) {
      data[data.length - 1] = [last[0], end, position]
      return false
    }
    data?.push([text.length, end, position])
    return data !== undefined
  }

  write(piece: string): void {
    this.#append(piece)
    this.place = behind(this.place, piece)
  }

  /** Reads a long piece of the template in steps, before it is written. */
  *reading(node: TextNode): Work<void> {
    const from = this.place
    if (node.way?.from.is(from)) return
    let to = from
    for (const piece of piecesOf(node.text, PIECE)) {
      to = behind(to, piece)
      yield undefined
    }
    node.way = { from, to }
  }

  /** Writes a piece of the template: where it leads is known from the last time, unless it stands elsewhere now. */
  writeText(node: TextNode): void {
    const from = this.place
    if (!node.way?.from.is(from)) node.way = { from, to: behind(from, node.text) }
    this.place = node.way.to
    this.#append(node.text)
  }

  /**
   * Writes what was captured in a place like this one as a whole: into another capture with its parts, into a page where no
   * part may have a colon, which is data's in one way and its author's in another.
   *
   * @returns whether it was; else each part has to be escaped for where it stands now
   */
  writeCaptured({ text, data, way }: Safe): boolean {
    const before = this.text.length
    if (way?.from.state !== 'data' || !way.from.is(this.place)) return false
    if (!this.data && text.includes(':')) return false
    for (const [start, end, position] of data) this.data?.push([before + start, before + end, position])
    this.place = way.to
    this.#append(text)
    this.endsInData = data.at(-1)?.[1] === text.length
    return true
  }

  #append(piece: string): void {
    if (piece === '') return
    this.text += piece
    this.endsInData = false
    this.tail = piece.length >= TAIL ? piece.slice(-TAIL) : (this.tail + piece).slice(-TAIL)
  }
}
