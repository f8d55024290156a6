/** What a template, or a `capture` in it, has written, and where in markup that leads. */

import { behind } from './markup.ts'
import type { Place, Position } from './place.ts'
import type { TextNode } from './template.ts'
import type { Span } from './values.ts'

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

  /** Takes note of data that is written next. */
  note(piece: string, position: Position): void {
    this.data?.push([this.text.length, this.text.length + piece.length, position])
  }

  write(piece: string): void {
    this.#append(piece)
    this.place = behind(this.place, piece)
  }

  /** Writes a piece of the template: where it leads is known from the last time, unless it stands elsewhere now. */
  writeText(node: TextNode): void {
    const from = this.place
    if (!node.way?.from.is(from)) node.way = { from, to: behind(from, node.text) }
    this.place = node.way.to
    this.#append(node.text)
  }

  #append(piece: string): void {
    if (piece === '') return
    this.text += piece
    this.endsInData = false
    this.tail = piece.length >= TAIL ? piece.slice(-TAIL) : (this.tail + piece).slice(-TAIL)
  }
}
