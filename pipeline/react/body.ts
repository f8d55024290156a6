/** The body of a request with reactions: read once, seen by code as text, and read again by core processing. */

import { Readable } from 'node:stream'
import { type BodySource, beyondCap, type Made, memoryBody, type SeePiece } from '../body.ts'
import { KeptPieces } from '../kept-pieces.ts'
import type { StagedBlob, StagingOptions } from '../store/blobs.ts'

export interface BodyLimits {
  /** Bytes of a body that is held in memory. */
  document: number
  /** Bytes of any body. */
  body: number
  /** Bytes that it may hold in memory while it goes to disk, because code may look at it; 0 where none does. */
  held: number
}

/** Bytes of a body that code may be shown as text at most: what its allowance has. */
export const LARGEST_TEXT = 64 * 1024 * 1024

/** Bytes that go into a commit as they are; longer ones are staged. */
const SMALL = 64 * 1024

export class KeptBody implements BodySource {
  readonly #source: BodySource
  readonly #limits: BodyLimits
  readonly #isBlob: boolean
  readonly #stage: (body: Readable, options: StagingOptions) => Promise<StagedBlob>
  #staged: StagedBlob | undefined
  #bytes: Uint8Array | undefined
  #replacement: Uint8Array | undefined
  #made: Made | undefined
  #type: string | undefined
  #reading: Promise<void> | undefined

  /**
   * @param isBlob the body becomes a blob, whatever its size
   * @param stage puts bytes where the store takes blobs from
   */
  constructor(
    source: BodySource,
    limits: BodyLimits,
    isBlob: boolean,
    stage: (body: Readable, options: StagingOptions) => Promise<StagedBlob>,
  ) {
    this.#source = source
    this.#limits = limits
    this.#isBlob = isBlob
    this.#stage = stage
  }

  /**
   * Reads the body, so that code can be shown it.
   *
   * @throws Fault 413, 400 or 408 as reading does
   */
  read(): Promise<void> {
    const { document, body } = this.#limits
    return this.#isBlob ? this.#readStaged(body) : this.#readBytes(document)
  }

  #readBytes(cap: number): Promise<void> {
    this.#reading ??= this.#source.bytes(cap).then(bytes => {
      this.#bytes = bytes
    })
    return this.#reading
  }

  #readStaged(cap: number, seen?: SeePiece): Promise<void> {
    // The pieces are held, and the whole that is made of them.
    const shown = Math.min(LARGEST_TEXT, this.#limits.held / 2)
    const pieces = new KeptPieces()
    let size = 0
    let counted = 0
    const keep: SeePiece = (piece, hold) => {
      size += piece.length
      if (size <= shown) pieces.add(piece)
      else pieces.clear()
      if (size <= SMALL || size > shown) return
      hold(2 * size - counted)
      counted = 2 * size
    }
    const see: SeePiece = (piece, hold) => {
      if (shown > 0) keep(piece, hold)
      seen?.(piece, hold)
    }
    this.#reading ??= this.#source.stage(cap, shown > 0 || seen ? see : undefined).then(staged => {
      this.#staged = staged
      const isWhole = size === staged.size && size <= shown
      const { all } = pieces
      this.#bytes = staged.bytes ?? (isWhole ? (all.length === 1 ? all[0] : Buffer.concat(all)) : undefined)
    })
    return this.#reading
  }

  /** As it was received; undefined when it is too large to be shown to code, or nobody was to look at it. */
  get received(): Uint8Array | undefined {
    return this.#bytes
  }

  /** What core processing gets; undefined as `received`. */
  get current(): Uint8Array | undefined {
    return this.#replacement ?? this.#bytes
  }

  get made(): Made | undefined {
    return this.#made
  }

  get type(): string | undefined {
    return this.#replacement ? this.#type : this.#source.type
  }

  /**
   * Puts another body in its place (REA-62).
   *
   * @param bytes what later code sees of it
   * @param as media type of a document, or how an element is made for one whose kind is not known yet: a page shows those of
   *   other ones (COMP-86)
   */
  replace(bytes: Uint8Array, as: string | Made): void {
    this.#replacement = bytes
    this.#made = typeof as === 'string' ? undefined : as
    this.#type = typeof as === 'string' ? as : undefined
  }

  async bytes(cap: number): Promise<Uint8Array> {
    if (!this.#replacement) await this.#readBytes(cap)
    const bytes = this.current
    if (!bytes || bytes.length > cap) throw beyondCap(cap)
    return bytes
  }

  async stage(cap: number, seen?: SeePiece): Promise<StagedBlob> {
    const wasRead = this.#reading !== undefined
    if (!this.#replacement) await this.#readStaged(cap, seen)
    // What is held already is counted already.
    if (wasRead && this.current) seen?.(this.current, () => undefined)
    if (!this.#replacement && this.#staged) return this.#staged
    const bytes = this.current ?? new Uint8Array()
    if (bytes.length > cap) throw beyondCap(cap)
    return bytes.length <= SMALL
      ? memoryBody(bytes).stage(cap)
      : this.#stage(Readable.from([bytes], { objectMode: false }), { limit: cap })
  }

  /** To be called when the request is over; what was committed stays. */
  async discard(): Promise<void> {
    await this.#staged?.discard()
  }
}
