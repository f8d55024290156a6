/** The body of a request in the form in which writes take it: in memory, or on its way to disk. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodySource } from '../pipeline/body.ts'
import { Fault } from '../pipeline/fault.ts'
import { type StagedBlob, StagingError } from '../pipeline/store/blobs.ts'
import type { Store } from '../pipeline/store/store.ts'
import { checkDeclaredLength, endedEarly, holder, invite, readBody, tooLarge, untilIdle } from './body.ts'

export type Stage = Store['stage']

/** How bodies of requests are read. */
export interface BodyReading {
  /** The store's area for bodies that are not committed yet. */
  stage: Stage
  /** Milliseconds without a byte before 408. */
  idle: number
}

/** @returns the body of a request; nothing of it is read before a write asks for it */
export function requestBody(
  { stage, idle }: BodyReading,
  request: IncomingMessage,
  response: ServerResponse,
): BodySource {
  return {
    bytes: cap => readBody(request, response, cap, idle),
    stage: (cap, seen) => stageBody(body => stage(body, { limit: cap, seen }), request, response, cap, idle),
  }
}

/**
 * Hands the body of a request over while it arrives.
 *
 * @param cap bytes; counted while reading, for bodies without a declared length
 * @param take reads the pieces to their end; `hold` counts bytes that it keeps in memory until the answer has left
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops, 503 when all requests hold too much;
 *   whatever `take` throws of its own
 */
export type ReadPieces = <T>(
  cap: number,
  take: (pieces: AsyncIterable<Uint8Array>, hold: (bytes: number) => void) => Promise<T>,
) => Promise<T>

export function piecesOf({ idle }: BodyReading, request: IncomingMessage, response: ServerResponse): ReadPieces {
  return async (cap, take) => {
    checkDeclaredLength(request, cap)
    invite(request, response)
    // Whoever takes the pieces may make an error of its own of this one.
    let broken: Fault | undefined
    async function* counted(): AsyncGenerator<Uint8Array> {
      let size = 0
      try {
        for await (const piece of request.iterator({ destroyOnReturn: false })) {
          size += piece.length
          if (size > cap) throw tooLarge(cap)
          yield piece
        }
      } catch (error) {
        broken = error instanceof Fault ? error : endedEarly()
        throw broken
      }
    }
    try {
      return await untilIdle(request, idle, () => take(counted(), holder(response)))
    } catch (error) {
      throw broken ?? error
    }
  }
}

/**
 * Streams a request body into the store's staging area with constant memory.
 *
 * @param cap bytes
 * @param idle milliseconds without a byte before 408
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops; then nothing is left behind
 */
async function stageBody(
  stage: (body: IncomingMessage) => Promise<StagedBlob>,
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  idle: number,
): Promise<StagedBlob> {
  checkDeclaredLength(request, cap)
  invite(request, response)
  const staging = stage(request)
  try {
    return await untilIdle(request, idle, () => staging)
  } catch (error) {
    // What may still arrive until the connection is closed is not wanted any more.
    staging.then(
      staged => staged.discard(),
      () => undefined,
    )
    if (error instanceof StagingError) throw error.reason === 'too-large' ? tooLarge(cap) : endedEarly()
    throw error
  }
}
