/** Bodies of requests, read when and in the form that core processing needs them. */

import { memoryBlob, type StagedBlob } from './store/blobs.ts'

/**
 * Is shown a piece of what goes to disk.
 *
 * @param hold counts bytes that are kept of it in memory until the answer has left (SEC-12); Fault 503 when there is no room
 */
export type SeePiece = (piece: Uint8Array, hold: (bytes: number) => void) => void

/** A request body that is read once, in the form its resource needs. */
export interface BodySource {
  /** Into memory; 413 over `cap` bytes. */
  bytes(cap: number): Promise<Uint8Array>
  /**
   * To disk while digests are computed; 413 over `cap` bytes.
   *
   * @param seen shown every piece of what goes to disk
   */
  stage(cap: number, seen?: SeePiece): Promise<StagedBlob>
}

/** Bytes of a selector or program that a QUERY may bring (SEC-12). */
export const LARGEST_QUERY = 256 * 1024

/** A body of bytes that are here already. */
export function memoryBody(bytes: Uint8Array): BodySource {
  return { bytes: async () => bytes, stage: async () => memoryBlob(bytes) }
}

/** The body of a request that has none, or whose body is ignored. */
export const NO_BODY: BodySource = memoryBody(new Uint8Array())
