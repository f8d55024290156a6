/**
 * The bytes of a document that edits change in places, joined when somebody asks for all of them: of a document whose elements
 * are written one after another nobody reads most versions as a whole.
 */

import { createHash, hash } from 'node:crypto'

/** A stretch of bytes and what stands in its place. */
interface Splice {
  start: number
  end: number
  bytes: Uint8Array
}

/** Parts behind which they are joined, once for so many edits. */
const MOST = 64

export class SplicedBytes {
  readonly length: number
  #parts: readonly Uint8Array[]

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts
    this.length = parts.reduce((sum, part) => sum + part.length, 0)
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts
  }

  /** All of them, in one piece. */
  get bytes(): Uint8Array {
    const [first = new Uint8Array(0), ...others] = this.#parts
    if (others.length === 0) return first
    const whole = Buffer.concat(this.#parts, this.length)
    this.#parts = [whole]
    return whole
  }

  /** The first of them. */
  first(count: number): Uint8Array {
    return Buffer.concat(this.#between(0, count))
  }

  /** @returns SHA-256, 64 hex digits */
  digest(): string {
    const [first, ...others] = this.#parts
    if (first && others.length === 0) return hash('sha256', first)
    const sum = createHash('sha256')
    for (const part of this.#parts) sum.update(part)
    return sum.digest('hex')
  }

  /** The same with changes. @param splices in order, not overlapping */
  changed(splices: readonly Splice[]): SplicedBytes {
    const parts: Uint8Array[] = []
    let at = 0
    for (const { start, end, bytes } of splices) {
      parts.push(...this.#between(at, start))
      if (bytes.length > 0) parts.push(bytes)
      at = end
    }
    parts.push(...this.#between(at, this.length))
    return new SplicedBytes(parts.length > MOST ? [Buffer.concat(parts)] : parts)
  }

  #between(start: number, end: number): Uint8Array[] {
    const found: Uint8Array[] = []
    let at = 0
    for (const part of this.#parts) {
      const piece = part.subarray(Math.max(0, start - at), Math.max(0, end - at))
      if (piece.length > 0) found.push(piece)
      at += part.length
      if (at >= end) break
    }
    return found
  }
}

/** Such bytes on their way to where they are stored. */
export class SplicedContent {
  readonly digest: string
  /** How they come of the bytes before; missing where nothing but the result is known. */
  readonly splices: readonly Splice[] | undefined
  readonly #body: SplicedBytes

  constructor(body: SplicedBytes, digest: string, splices: readonly Splice[] | undefined) {
    this.#body = body
    this.digest = digest
    this.splices = splices
  }

  get bytes(): Uint8Array {
    return this.#body.bytes
  }

  get size(): number {
    return this.#body.length
  }
}
