/** What waits for slow readers in the whole process: bounded, however many of them it waits for (EVT-37, SEC-12). */

/** Bytes by which it grows before others are told. */
const STEP = 1024 * 1024

export interface WaitingOptions {
  /** Bytes for all readers together. */
  most?: number
  /** Called when much more waits than before. */
  grown?: () => void
  /** Milliseconds. */
  clock?: () => number
}

export class Waiting {
  /** Bytes for all readers together. */
  readonly most: number
  readonly #grown: () => void
  readonly #clock: () => number
  /** For how many readers each piece waits: it is in memory once. */
  readonly #pieces = new Map<Uint8Array, number>()
  /** Readers for whom something waits, how each is given up, and since when it has taken nothing. That of the longest time comes first. */
  readonly #readers = new Map<object, { giveUp: () => void; since: number }>()
  #bytes = 0
  /** Bytes that others know of. */
  #told = 0

  constructor(options: WaitingOptions = {}) {
    const { most = Number.POSITIVE_INFINITY, grown = () => undefined, clock = () => performance.now() } = options
    this.most = most
    this.#grown = grown
    this.#clock = clock
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether a piece waits for somebody. */
  has(piece: Uint8Array): boolean {
    return this.#pieces.has(piece)
  }

  /** Counts a piece in that waits for somebody. */
  hold(piece: Uint8Array): void {
    const readers = this.#pieces.get(piece) ?? 0
    this.#pieces.set(piece, readers + 1)
    if (readers === 0) this.#bytes += piece.length
  }

  /** Counts a piece out that was held. */
  release(piece: Uint8Array): void {
    const readers = this.#pieces.get(piece) ?? 0
    if (readers > 1) {
      this.#pieces.set(piece, readers - 1)
      return
    }
    if (this.#pieces.delete(piece)) this.#bytes -= piece.length
    this.#told = Math.min(this.#told, this.#bytes)
  }

  /** A reader has something to take, from now on. */
  begin(reader: object, giveUp: () => void): void {
    this.#readers.delete(reader)
    this.#readers.set(reader, { giveUp, since: this.#clock() })
  }

  /** Nothing waits for a reader any more. */
  end(reader: object): void {
    this.#readers.delete(reader)
  }

  /**
   * Gives up readers who have taken nothing for some time.
   *
   * @param time milliseconds
   * @param most no more of them than until so few bytes wait
   */
  endStalled(time: number, most = 0): void {
    const before = this.#clock() - time
    for (const [reader, { giveUp, since }] of this.#readers) {
      if (this.#bytes <= most || since > before) break
      this.#readers.delete(reader)
      giveUp()
    }
  }

  /** Gives readers up where too much waits. What is larger by itself still goes to whoever is the only one. */
  relieve(): void {
    for (const [reader, { giveUp }] of this.#readers) {
      if (this.#bytes <= this.most || this.#readers.size === 1) break
      this.#readers.delete(reader)
      giveUp()
    }
    if (this.#bytes < this.#told + STEP) return
    this.#told = this.#bytes
    this.#grown()
  }
}
