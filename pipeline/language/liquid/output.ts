/** What a template, or a `capture` in it, has written. */

import type { Span } from './values.ts'

/** Characters that are kept of what was written last. */
const TAIL = 12

export class Output {
  text = ''
  tail = ''
  /** Where colons of data stand, of what is captured. */
  readonly data: Span[] | undefined

  constructor(isCaptured = false) {
    if (isCaptured) this.data = []
  }

  /**
   * Notes parts of what is written next.
   *
   * @param isRaw references mean nothing there
   */
  note(spans: readonly Span[], isRaw: boolean): void {
    const { data, text } = this
    if (data) for (const [start, end, raw] of spans) data.push([text.length + start, text.length + end, raw || isRaw])
  }

  write(piece: string): void {
    if (piece === '') return
    this.text += piece
    this.tail = piece.length >= TAIL ? piece.slice(-TAIL) : (this.tail + piece).slice(-TAIL)
  }
}
