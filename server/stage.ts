/** Bodies of blobs on their way to disk. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '../pipeline/fault.ts'
import { type StagedBlob, StagingError, type Store } from '../pipeline/store/store.ts'
import { checkDeclaredLength, endedEarly, invite, tooLarge, watchIdle } from './body.ts'

export type Stage = Store['stage']

/**
 * Streams a request body into the store's staging area with constant memory.
 *
 * @param cap bytes
 * @param idle milliseconds without a byte before 408
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops; then nothing is left behind
 */
export async function stageBody(
  stage: Stage,
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  idle: number,
): Promise<StagedBlob> {
  checkDeclaredLength(request, cap)
  invite(request, response)
  const unwatch = watchIdle(request, idle)
  try {
    return await stage(request, { limit: cap })
  } catch (error) {
    if (error instanceof Fault) throw error
    if (request.errored instanceof Fault) throw request.errored
    if (error instanceof StagingError) throw error.reason === 'too-large' ? tooLarge(cap) : endedEarly()
    throw error
  } finally {
    unwatch()
  }
}
