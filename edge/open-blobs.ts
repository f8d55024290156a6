/** Blobs that are open for answers, and those that arrive: each takes a descriptor, as the connection does that it is sent on. */

import type { BlobBody } from '../pipeline/answer.ts'
import { Fault } from '../pipeline/fault.ts'
import type { OpenFiles } from '../pipeline/store/blobs.ts'

export type OpenBlob = Awaited<ReturnType<BlobBody['blob']['open']>>

/** Blobs that are open now. */
export const openBlobs: OpenFiles = { count: 0, mayOpen: () => true }

/** @param room whether there is a descriptor for one more; it is asked each time */
export function limitBlobs(room: () => boolean): void {
  openBlobs.mayOpen = room
}

/**
 * @param isBegun the answer has begun, so that nothing else can be said any more
 * @throws Fault 503 without a descriptor for it, and what opening it throws
 */
export async function openBlob(body: BlobBody, isBegun = false): Promise<OpenBlob> {
  if (!isBegun && !openBlobs.mayOpen())
    throw new Fault(503, 'Unavailable', 'Too many files are on their way. Try again in a moment.', {
      headers: { 'Retry-After': '2' },
    })
  openBlobs.count++
  try {
    const reader = await body.blob.open(body)
    let isOpen = true
    return {
      read: (buffer, position) => reader.read(buffer, position),
      close() {
        if (isOpen) openBlobs.count--
        isOpen = false
        return reader.close()
      },
    }
  } catch (error) {
    openBlobs.count--
    throw error
  }
}
