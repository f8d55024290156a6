/** Bytes at rest, and on their way there. */

import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobGone } from './errors.ts'

/** Bytes that are read in pieces, from wherever the store keeps them. */
export interface StoredBlob {
  /** Bytes. */
  size: number
  /**
   * A file of this machine that holds them, where there is one. It may be gone at any time; whoever opened it has it.
   */
  file?: string
  /**
   * Whoever opens a blob closes it.
   *
   * @param span what will be read, for stores that ask somebody else for it; an empty one asks whether the blob is there
   * @throws Error when it is gone, StoreError when it cannot be had now
   */
  open(span?: Span): Promise<BlobReader>
}

/** A stretch of bytes. */
export interface Span {
  start: number
  /** Behind the last byte. */
  end: number
}

export interface BlobReader {
  /**
   * Reads into a buffer, which must not be used until the promise settles.
   *
   * @param position of the first byte
   * @returns the number of bytes read: at least one, none at the end
   */
  read(buffer: Uint8Array, position: number): Promise<number>
  close(): Promise<void>
}

/** Bytes read at a time. */
const PIECE = 256 * 1024

/** All of a blob as a stream, with constant memory. It fails with BlobGone where there is less than was stored. */
export function blobStream(blob: StoredBlob): Readable {
  return Readable.from(piecesOf(blob), { objectMode: false })
}

async function* piecesOf(blob: StoredBlob): AsyncGenerator<Uint8Array> {
  const reader = await blob.open()
  try {
    for (let at = 0; at < blob.size; ) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE, blob.size - at))
      const read = await reader.read(buffer, at)
      if (read === 0) throw new BlobGone('A blob ended before its size')
      yield buffer.subarray(0, read)
      at += read
    }
  } finally {
    await reader.close()
  }
}

/** All of a blob in memory: for those that are small enough to be documents. */
export async function blobBytes(blob: StoredBlob): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(blob.size)
  let at = 0
  for await (const piece of piecesOf(blob)) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** The bytes of a resource: in memory, or to be read in pieces. */
export type Body = { bytes: Uint8Array } | { blob: StoredBlob }

/** A body that was streamed to where the store keeps bytes (or kept in memory when small) while its digests were computed. */
export interface StagedBlob {
  sha256: string
  /** Known where `checksums` asked for it; otherwise a store may compute it once somebody asks. */
  sha1: string | undefined
  md5: string | undefined
  size: number
  /** Set when the body was small enough to be kept in the database. */
  bytes?: Uint8Array
  /** Set otherwise: where the store that staged it finds the bytes until a commit takes them or they are discarded. */
  place?: string
  /**
   * Drops the staged bytes; harmless after a commit or when called twice. Never fails: whoever drops them has been told already
   * what became of the write, and bytes that stay are found by a later cleaning.
   */
  discard(): Promise<void>
}

/** A stretch of bytes and what stands in its place. */
export interface ByteSplice {
  start: number
  end: number
  bytes: Uint8Array
}

/**
 * Bytes to be stored: in memory, with their SHA-256 in hexadecimal where it is known, or staged by the same store. Where
 * the version is known that they come of, which the change expects then, `splices` may say how: stretches of its bytes, in
 * order. A store is free to keep these alone.
 */
export type Content =
  | {
      readonly bytes: Uint8Array
      /** How many there are, where that is known without asking for them. */
      readonly size?: number
      readonly digest?: string | undefined
      readonly splices?: readonly ByteSplice[] | undefined
    }
  | { staged: StagedBlob }

/** Files that a process has open for what others send and take, which they may never end to do. */
export interface OpenFiles {
  count: number
  /** Whether there is a descriptor for one more; it is asked each time. */
  mayOpen(): boolean
}

export interface StagingOptions {
  /** Bytes; a longer stream rejects with `StagingError` of reason `too-large` and leaves nothing behind. */
  limit: number
  /** SHA-1 and MD5 are computed while the bytes arrive, because somebody waits for them. */
  checksums?: boolean | undefined
  /** Shown every piece as it arrives. */
  seen?: ((piece: Uint8Array) => void) | undefined
  /** Counted among these where the bytes go to a file; without a descriptor for it the error says what the system would. */
  files?: OpenFiles | undefined
}

/** Why a body could not be staged. */
export class StagingError extends Error {
  readonly reason: 'too-large' | 'aborted'
  constructor(reason: 'too-large' | 'aborted', options?: ErrorOptions) {
    super(reason, options)
    this.name = 'StagingError'
    this.reason = reason
  }
}

export interface BlobWriter {
  /** Streams a body to where the store keeps bytes, with constant memory. An aborted stream leaves nothing behind. */
  stage(body: Readable, options: StagingOptions): Promise<StagedBlob>
}

/** A body that stays in memory, as if it had been staged. Its weak digests are made when somebody asks for them. */
export function memoryBlob(bytes: Uint8Array): StagedBlob {
  return {
    sha256: hash('sha256', bytes),
    get sha1() {
      return hash('sha1', bytes)
    },
    get md5() {
      return hash('md5', bytes)
    },
    size: bytes.length,
    bytes,
    discard: async () => undefined,
  }
}
