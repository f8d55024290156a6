/** Bodies of requests, read when and in the form that core processing needs them. */

import { Fault } from './fault.ts'
import { memoryBlob, type StagedBlob } from './store/blobs.ts'

/**
 * Is shown a piece of what goes to disk.
 *
 * @param hold counts bytes that are kept of it in memory until the answer has left (SEC-12); Fault 503 when there is no room
 */
export type SeePiece = (piece: Uint8Array, hold: (bytes: number) => void) => void

/** An element that code has made, as markup for a document of a kind; in turns. */
export type Made = (kind: 'html' | 'xml') => Promise<Uint8Array>

/** A request body that is read once, in the form its resource needs. */
export interface BodySource {
  /** Markup that code has made in place of what was sent, as a document of a kind takes it in (REA-62). */
  readonly made?: Made | undefined
  /** Media type of a document that code has made in place of what was sent; whatever the request says was said of that. */
  readonly type?: string | undefined
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

/** A body of bytes that are here already; what code, or a template, has made may be larger than anything that is sent. */
export function memoryBody(bytes: Uint8Array): BodySource {
  const within = (cap: number) => {
    if (bytes.length > cap) throw beyondCap(cap)
    return bytes
  }
  return { bytes: async cap => within(cap), stage: async cap => memoryBlob(within(cap)) }
}

/** The refusal of a body that is here already. */
export function beyondCap(cap: number): Fault {
  return new Fault(413, 'PayloadTooLarge', `The body is larger than the ${cap} bytes allowed here.`)
}

/** The body of a request that has none, or whose body is ignored. */
export const NO_BODY: BodySource = memoryBody(new Uint8Array())
