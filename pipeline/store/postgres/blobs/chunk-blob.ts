/** Blobs in chunks of one size: any stretch is read without what stands before or behind it. */

import type { BlobReader, StoredBlob } from '../../blobs.ts'
import type { Session } from '../session.ts'

/** Bytes of a chunk; only the last of a blob may have fewer. */
export const CHUNK = 256 * 1024

async function openBlob(reads: Session, digest: string, size: number): Promise<BlobReader> {
  const row = await reads.row<{ upload: string }>('SELECT upload FROM blob WHERE digest = $1', digest)
  if (row === undefined) throw new Error('A blob is gone')
  let number = -1
  let chunk: Uint8Array = new Uint8Array()
  return {
    async read(buffer, position) {
      if (position >= size) return 0
      const wanted = Math.floor(position / CHUNK)
      if (wanted !== number) {
        const found = await reads.row<{ bytes: Uint8Array }>(
          'SELECT bytes FROM chunk WHERE upload = $1::uuid AND seq = $2',
          row.upload,
          wanted,
        )
        if (found === undefined) throw new Error('A blob is gone')
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
export function chunkBlob(reads: Session, digest: string, size: number): StoredBlob {
  return { size, open: () => openBlob(reads, digest, size) }
}
