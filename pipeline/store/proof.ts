/** Proof that bytes which are read are those that were stored, by the digest under which they are known. */

import { createHash } from 'node:crypto'
import type { BlobReader, Span } from './blobs.ts'
import { BlobChanged } from './errors.ts'

/** Whether all of a blob is to be read, so that it can be proved. @param span as whoever opens it names it */
export function isWhole(size: number, span: Span = { start: 0, end: size }): boolean {
  return size > 0 && span.start === 0 && span.end >= size
}

/**
 * A reader that hands out the last bytes of a blob only if all bytes are those that were stored; where they are not read in
 * order, nothing is proved.
 *
 * @param what names the blob in the failure
 * @param found told what came of it
 * @throws BlobChanged instead of the last bytes
 */
export function proving(
  reader: BlobReader,
  { what, size, sha256 }: { what: string; size: number; sha256: string },
  found: (isSound: boolean) => void = () => undefined,
): BlobReader {
  const hash = createHash('sha256')
  let at = 0
  let changed: BlobChanged | undefined
  return {
    async read(buffer, position) {
      const read = await reader.read(buffer, position)
      if (position !== at) at = Number.NaN
      if (position === at && read > 0) {
        hash.update(buffer.subarray(0, read))
        at += read
        if (at >= size) {
          const isSound = hash.digest('hex') === sha256
          if (!isSound) changed = new BlobChanged(`${what} does not have the bytes that were stored`)
          found(isSound)
        }
      }
      if (changed) throw changed
      return read
    },
    close: () => reader.close(),
  }
}
