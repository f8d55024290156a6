/** Blobs as they are stored: in chunks of one size, any stretch of which is read without what stands before or behind it, or in objects. */

import { setTimeout as wait } from 'node:timers/promises'
import { OrderedMap } from '../../../ordered-map.ts'
import type { BlobReader, Span, StoredBlob } from '../../blobs.ts'
import { BlobGone, StoreError } from '../../errors.ts'
import { collectAt } from '../../garbage-collection.ts'
import type { Objects } from '../../objects/objects.ts'
import { isWhole, proving } from '../../proof.ts'
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
  if (!row.object) return openProven(reads, row.upload, digest, size, span)
  if (objects === undefined) throw new StoreError('busy', 'A blob is in an object store, and the settings name none')
  return objects.open(row.upload, size, span, digest)
}

/** Uploads in chunks of which it is remembered that they are sound, in some 2 MB: others are proved again. */
const MOST_SOUND = 8192
const sound = new OrderedMap<string, true>()

/**
 * Chunks that are read as a whole are proved by their digest, once as long as this process lives: nobody writes to them again,
 * and the proof takes more of the processor than a download does.
 */
function openProven(reads: Session, upload: string, sha256: string, size: number, span?: Span): BlobReader {
  const reader = openChunks(reads, upload, size)
  if (!isWhole(size, span) || sound.use(upload)) return reader
  return proving(reader, { what: `The upload ${upload} in the database`, size, sha256 }, isSound => {
    if (!isSound) return
    sound.set(upload, true)
    if (sound.size > MOST_SOUND && sound.oldest !== undefined) sound.delete(sound.oldest)
  })
}

/**
 * Bytes that come in one message at most. The client of the database joins the pieces of a message in buffers that are twice
 * as large each time, all of which are garbage afterwards.
 */
const MESSAGE = 32 * 1024

const UUID = /^[0-9a-f-]{36}$/

/** Milliseconds that who has begun to read waits for a database that is away, and between two attempts. */
const PATIENCE = 10_000
const NAP = 200

/**
 * Reads again while the database is away, as long as anybody waits.
 *
 * @throws StoreError
 */
async function patiently(read: () => Promise<number>, isWanted: () => boolean): Promise<number> {
  for (const begun = performance.now(); ; ) {
    try {
      return await read()
    } catch (error) {
      const isAway = error instanceof StoreError && error.reason === 'busy'
      if (!isAway || !isWanted() || performance.now() - begun > PATIENCE) throw error
      await wait(NAP)
    }
  }
}

/**
 * Who has begun to read waits for a database that is started again; who has not can be told to come again.
 *
 * @param upload number of the chunks
 */
export function openChunks(reads: Session, upload: string, size: number): BlobReader {
  if (!UUID.test(upload)) throw new Error('This is no number of an upload')
  let total = 0
  let isClosed = false

  async function fill(buffer: Uint8Array, seq: number, start: number, end: number): Promise<number> {
    let filled = 0
    await reads.copy(
      `SELECT substring(bytes FROM at + 1 FOR least(${MESSAGE}, ${end} - at))
       FROM chunk, generate_series(${start}, ${end - 1}, ${MESSAGE}) AS at
       WHERE upload = '${upload}' AND seq = ${seq} ORDER BY at`,
      piece => {
        buffer.set(piece.subarray(0, buffer.length - filled), filled)
        filled += piece.length
      },
    )
    return filled
  }

  return {
    async read(buffer, position) {
      const wanted = Math.min(buffer.length, size - position)
      if (wanted <= 0) return 0
      const start = position % CHUNK
      const end = Math.min(start + wanted, CHUNK)
      const read = () => fill(buffer, Math.floor(position / CHUNK), start, end)
      const filled = await (total === 0 ? read() : patiently(read, () => !isClosed))
      if (filled !== end - start) throw new BlobGone('A blob is gone')
      total += filled
      collectAt(total, filled)
      return filled
    },
    async close() {
      isClosed = true
    },
  }
}

/** A blob of the database. @param digest SHA-256 of its bytes */
export function storedBlob(source: BlobSource, digest: string, size: number): StoredBlob {
  return { size, open: span => openBlob(source, digest, size, span) }
}
