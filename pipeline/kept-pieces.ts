/** Pieces of a body that stay in memory until all of it is there. */

/** Pieces of a body that are put together where all of them are short, and the bytes that they have then. */
const MANY = 256
const SHORT = 64 * 1024

/**
 * Pieces of a body that are kept as they come. A client may send single bytes, in chunks of their own: each would take 170
 * bytes beside the one that is counted (SEC-12).
 */
export class KeptPieces {
  readonly all: Uint8Array[] = []
  /** Those before are as they stay. */
  #settled = 0
  /** Bytes of the others. */
  #bytes = 0

  add(piece: Uint8Array): void {
    const { all } = this
    all.push(piece)
    this.#bytes += piece.length
    if (all.length - this.#settled < MANY) return
    if (this.#bytes < SHORT) all.push(Buffer.concat(all.splice(this.#settled)))
    this.#settled = all.length
    this.#bytes = 0
  }

  clear(): void {
    this.all.length = 0
    this.#settled = 0
    this.#bytes = 0
  }
}
