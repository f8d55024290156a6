/** Blobs as they are stored: in chunks of one size, any stretch of which is read without what stands before or behind it, or in objects. */

import type { BlobReader, Span, StoredBlob } from '../../blobs.ts'
import { BlobGone, StoreError } from '../../errors.ts'
import type { Objects } from '../../objects/objects.ts'
import type { Session } from '../session.ts'

/** Bytes of a chunk; only the last of a blob may have fewer. */
export const CHUNK = 256 * 1024

/** Blobs of a database, wherever it keeps them. */
export interface BlobSource {
  reads: Session
  /** Where those are that are in objects. */
  objects?: Objects | undefined
}

async function openBlob(
  { reads, objects }: BlobSource,
  digest: string,
  size: number,
  span?: Span,
): Promise<BlobReader> {
  const row = await reads.row<{ upload: string; object: boolean }>(
    'SELECT upload, EXISTS (SELECT 1 FROM object WHERE id = upload) AS object FROM blob WHERE digest = $1',
    digest,
  )
  if (row === undefined) throw new BlobGone('A blob is gone')
  if (!row.object) return openChunks(reads, row.upload, size)
  if (objects === undefined) throw new StoreError('busy', 'A blob is in an object store, and the settings name none')
  return objects.open(row.upload, size, span)
}

/** @param upload number of the chunks */
export function openChunks(reads: Session, upload: string, size: number): BlobReader {
  let number = -1
  let chunk: Uint8Array = new Uint8Array()
  return {
    async read(buffer, position) {
      if (position >= size) return 0
      const wanted = Math.floor(position / CHUNK)
      if (wanted !== number) {
        const found = await reads.row<{ bytes: Uint8Array }>(
          'SELECT bytes FROM chunk WHERE upload = $1::uuid AND seq = $2',
          upload,
          wanted,
        )
        if (found === undefined) throw new BlobGone('A blob is gone')
        chunk = found.bytes
        number = wanted
      }
      const part = chunk.subarray(position - wanted * CHUNK).subarray(0, buffer.length)
      buffer.set(part)
      return part.length
    },
    async close() {
      chunk = new Uint8Array()
      number = -1
    },
  }
}

/** A blob of the database. @param digest SHA-256 of its bytes */
export function storedBlob(source: BlobSource, digest: string, size: number): StoredBlob {
  return { size, open: span => openBlob(source, digest, size, span) }
}
