/**
 * Bodies on their way in: small ones stay in memory, larger ones go into the database in chunks, or into an object, while
 * they arrive. Memory stays constant, nothing touches the disk of this machine, and what is not finished leaves nothing.
 */

import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { KeptPieces } from '../../../kept-pieces.ts'
import { memoryBlob, type StagedBlob, StagingError, type StagingOptions } from '../../blobs.ts'
import { StoreError } from '../../errors.ts'
import { collectAt } from '../../garbage-collection.ts'
import { storeError } from '../connection.ts'
import type { Session } from '../session.ts'
import { CHUNK } from './stored.ts'

/** Pieces of a stream as bytes, the stream itself left open. @throws StagingError when it ends early */
async function* arriving(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  } catch (error) {
    throw new StagingError('aborted', { cause: error })
  }
}

/** Takes chunks back that no blob has become. What cannot be taken back now is found by the cleaning. */
async function discard(uploads: Session, id: string): Promise<void> {
  try {
    await uploads.run(
      'DELETE FROM chunk WHERE upload = $1::uuid AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.upload = $1::uuid)',
      id,
    )
    await uploads.run('DELETE FROM upload WHERE id = $1::uuid', id)
  } catch {
    // Whoever waits for this has an answer of the store already.
  }
}

/** Milliseconds after which an upload says again that it is on its way. */
const NOTED = 60 * 60_000
/** Says so, unless it is marked: then its chunks are being removed (`removeAbandoned`). */
const STAY = `UPDATE upload SET begun = now() WHERE id = $1::uuid AND begun > '-infinity'`

/** Where a body goes. */
export interface Outflow {
  /** Takes a copy of the bytes. @throws StoreError */
  fill(piece: Uint8Array): Promise<void>
  finish(): Promise<StagedBlob>
  abandon(): Promise<void>
}

/** The digests that are kept of a blob. */
export function threeDigests() {
  const digests = ['sha256', 'sha1', 'md5'].map(name => createHash(name))
  return {
    update(bytes: Uint8Array): void {
      for (const digest of digests) digest.update(bytes)
    },
    digest() {
      const [sha256 = '', sha1 = '', md5 = ''] = digests.map(digest => digest.digest('hex'))
      return { sha256, sha1, md5 }
    },
  }
}

/**
 * Sends chunks to the database, one on its way while the next is filled.
 *
 * @param uploads connections whose commits need not be on disk when they are answered: that of the resource brings all
 *   earlier ones there
 */
export function intoChunks(uploads: Session): Outflow {
  const id = randomUUID()
  const digests = threeDigests()
  let block = Buffer.allocUnsafeSlow(CHUNK)
  let spare = Buffer.allocUnsafeSlow(CHUNK)
  let filled = 0
  let count = 0
  let size = 0
  let noted = performance.now()
  let sending: Promise<unknown> = uploads.run('INSERT INTO upload (id) VALUES ($1::uuid)', id)
  sending.catch(() => undefined)

  async function stay(): Promise<void> {
    noted = performance.now()
    if ((await uploads.run(STAY, id)) === 0) throw new StoreError('busy', 'The upload was taken for one that was left')
  }

  async function send(): Promise<void> {
    const bytes = block.subarray(0, filled)
    digests.update(bytes)
    size += filled
    // The buffer before this one is free again when its chunk is stored.
    await sending
    sending = uploads.run('INSERT INTO chunk (upload, seq, bytes) VALUES ($1::uuid, $2, $3)', id, count++, bytes)
    sending.catch(() => undefined)
    ;[block, spare] = [spare, block]
    filled = 0
    collectAt(size, CHUNK)
    await setImmediate()
  }

  return {
    async fill(piece) {
      if (performance.now() - noted > NOTED) {
        await sending
        await stay()
      }
      for (let from = 0; from < piece.length; ) {
        const part = piece.subarray(from, from + CHUNK - filled)
        block.set(part, filled)
        filled += part.length
        from += part.length
        if (filled === CHUNK) await send()
      }
    },
    async finish() {
      if (filled > 0) await send()
      await Promise.all([sending, stay()])
      return { ...digests.digest(), size, place: id, discard: () => discard(uploads, id) }
    },
    async abandon() {
      await sending.catch(() => undefined)
      await discard(uploads, id)
    },
  }
}

/**
 * @param begin opens what a large body goes to
 * @param inlineLimit bytes up to which bodies stay in memory
 */
export function createStaging(begin: () => Outflow, inlineLimit: number) {
  return async function stage(body: Readable, { limit, seen }: StagingOptions): Promise<StagedBlob> {
    let size = 0
    const pieces = new KeptPieces()
    let out: Outflow | undefined
    try {
      // The caller decides what becomes of the stream: a request must survive to be answered.
      for await (const piece of arriving(body)) {
        size += piece.length
        seen?.(piece)
        if (size > limit) throw new StagingError('too-large')
        if (out === undefined && size <= inlineLimit) {
          pieces.add(piece)
          continue
        }
        if (out === undefined) {
          out = begin()
          for (const early of pieces.all) await out.fill(early)
          pieces.clear()
        }
        await out.fill(piece)
      }
      return out === undefined ? memoryBlob(Buffer.concat(pieces.all)) : await out.finish()
    } catch (error) {
      await out?.abandon()
      throw error instanceof StagingError ? error : storeError(error)
    }
  }
}
