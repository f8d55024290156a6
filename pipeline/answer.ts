/** What the pipeline gives back for a request: plain values that the edge writes to a socket. */

import type { StoredBlob } from './store/blobs.ts'

/** Where the bytes of a stream go. */
export interface Sink {
  /**
   * Takes bytes that do not change any more.
   *
   * @param done called when they have left the process
   */
  write(bytes: Uint8Array, done: () => void): void
  /** Ends after what was written. */
  end(): void
  /** Ends at once; what was not sent is lost. */
  destroy(): void
}

/** A stored blob, or a part of it. */
export interface BlobBody {
  blob: StoredBlob
  /** First byte and the byte behind the last one. */
  start: number
  end: number
}

/** Pieces sent one after another; `size` is their sum in bytes. */
export interface PiecesBody {
  pieces: (Uint8Array | BlobBody)[]
  size: number
}

export type AnswerBody = string | Uint8Array | BlobBody | PiecesBody

export interface Answer {
  status: number
  /** Field names in their usual spelling. `Content-Length` is added at the edge. */
  headers: Record<string, string>
  /** Fields beside `headers` that may have the same names: each is sent as a line of its own. */
  repeated?: readonly (readonly [name: string, value: string])[]
  body?: AnswerBody
  /** Instead of a body: begins an event stream, which goes on until either side ends it. */
  stream?: (sink: Sink) => void
  /** The server has made the page itself; it needs nothing but inline styles. */
  serverPage?: boolean
  /** The answer of a blob, which sets no cookie so that assets stay shareable (HTTP-151). */
  cookieless?: boolean
  /** Lets the edge keep this answer and repeat it for other requests; absent if it must not. */
  reuse?: Reuse
}

/**
 * When an answer may be given again. Beside the request line and a few headers it depends on nothing but what is asked
 * here.
 */
export interface Reuse {
  /** Whether nothing has changed that the answer was made of. */
  holds(): boolean
  /** What this process may have to ask others, asked each time; absent where there is nothing of that kind. */
  confirm?(): boolean | Promise<boolean>
  /** Whether that would be true without a question to anybody; absent where nobody can tell. */
  isConfirmed?(): boolean
  /** Bytes that it keeps to be asked by; absent where they are few. */
  readonly bytes?: number
}
