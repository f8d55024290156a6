/** What a template, or a `capture` in it, has written. */

import type { Span } from './values.ts'

/** Characters that are kept of what was written last. */
const TAIL = 12

/** Parts of a captured text that are told from the rest. */
const MOST_SPANS = 1000

export class Output {
  text = ''
  tail = ''
  /** Where colons of data stand, of what is captured. */
  readonly data: Span[] | undefined

  constructor(isCaptured = false) {
    if (isCaptured) this.data = []
  }

  /** Notes parts of what is written next; of many, the last ones are taken for one with what stands between them. */
  note(spans: readonly Span[]): void {
    const { data, text } = this
    if (!data) return
    for (const [start, end] of spans) {
      const last = data.length < MOST_SPANS ? undefined : data.pop()
      data.push([last?.[0] ?? text.length + start, text.length + end])
    }
  }

  write(piece: string): void {
    if (piece === '') return
    this.text += piece
    this.tail = piece.length >= TAIL ? piece.slice(-TAIL) : (this.tail + piece).slice(-TAIL)
  }
}
