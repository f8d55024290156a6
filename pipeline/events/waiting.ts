/** What waits for slow readers in the whole process: bounded, however many streams it waits in (EVT-37, SEC-12). */

/** Bytes by which it grows before others are told. */
const STEP = 1024 * 1024

export interface WaitingOptions {
  /** Bytes for all streams together. */
  most?: number
  /** Called when much more waits than before. */
  grown?: () => void
}

export class Waiting {
  readonly #most: number
  readonly #grown: () => void
  /** How many streams each piece waits in: it is in memory once. */
  readonly #pieces = new Map<Uint8Array, number>()
  /** How each reader is given up for whom something waits. Whoever has taken nothing for longest comes first. */
  readonly #readers = new Map<object, () => void>()
  #bytes = 0
  /** Bytes that others know of. */
  #told = 0

  constructor({ most = Number.POSITIVE_INFINITY, grown = () => undefined }: WaitingOptions = {}) {
    this.#most = most
    this.#grown = grown
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts a piece in that waits for somebody. */
  hold(piece: Uint8Array): void {
    const streams = this.#pieces.get(piece) ?? 0
    this.#pieces.set(piece, streams + 1)
    if (streams === 0) this.#bytes += piece.length
  }

  /** Counts a piece out that was held. */
  release(piece: Uint8Array): void {
    const streams = this.#pieces.get(piece) ?? 0
    if (streams > 1) {
      this.#pieces.set(piece, streams - 1)
      return
    }
    if (this.#pieces.delete(piece)) this.#bytes -= piece.length
    this.#told = Math.min(this.#told, this.#bytes)
  }

  /** A reader has something to take, from now on. */
  begin(reader: object, giveUp: () => void): void {
    this.#readers.delete(reader)
    this.#readers.set(reader, giveUp)
  }

  /** Nothing waits for a reader any more. */
  end(reader: object): void {
    this.#readers.delete(reader)
  }

  /** Gives readers up where too much waits. One event larger than that still goes to whoever is the only one. */
  relieve(): void {
    for (const [reader, giveUp] of this.#readers) {
      if (this.#bytes <= this.#most || this.#readers.size === 1) break
      this.#readers.delete(reader)
      giveUp()
    }
    if (this.#bytes < this.#told + STEP) return
    this.#told = this.#bytes
    this.#grown()
  }
}
