/** What the pipeline gives back for a request: plain values that the edge writes to a socket. */

import type { Sink } from './events/outbox.ts'

/** A file on disk, or a part of it. */
export interface FileBody {
  file: string
  /** First byte and the byte behind the last one. */
  start: number
  end: number
}

/** Pieces sent one after another; `size` is their sum in bytes. */
export interface PiecesBody {
  pieces: (Uint8Array | FileBody)[]
  size: number
}

export type AnswerBody = string | Uint8Array | FileBody | PiecesBody

export interface Answer {
  status: number
  /** Field names in their usual spelling. `Content-Length` is added at the edge. */
  headers: Record<string, string>
  body?: AnswerBody
  /** Instead of a body: begins an event stream, which goes on until either side ends it. */
  stream?: (sink: Sink) => void
  /** The answer of a blob, which sets no cookie so that assets stay shareable (HTTP-151). */
  cookieless?: boolean
  /** Facts by which the edge may keep and repeat this answer for other requests; absent if it must not. */
  reuse?: Reuse
}

/** An answer that depends on nothing but the request line, a few headers and the state named here. */
export interface Reuse {
  path: string
  version: number
  /** Changes whenever a rule of the site does. */
  rules: object
}
