/**
 * Blobs in an object store. Each object has a row from before anything of it is stored: what no blob has in the end is found
 * by that row, whatever became of the process that wrote it.
 */

import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { StoredBlob } from '../../blobs.ts'
import { collectAt } from '../../garbage-collection.ts'
import { BLOCK } from '../../objects/blocks.ts'
import type { Objects } from '../../objects/objects.ts'
import type { Session } from '../session.ts'
import { type Outflow, threeDigests } from './staging.ts'

/** What the place of a staged body begins with that went to an object. */
const OBJECT = 'object/'

/** @returns the number of the upload, and whether it is an object */
export function uploadOf(place: string): { upload: string; object: boolean } {
  const object = place.startsWith(OBJECT)
  return { upload: object ? place.slice(OBJECT.length) : place, object }
}

/** Notes an object, or that it is still on its way. Nobody looks after it for a day. */
const NOTE = `INSERT INTO object (id) VALUES ($1::uuid) ON CONFLICT (id) DO UPDATE SET due = DEFAULT`

/** Has somebody look whether a blob has an object, when every commit that could name it is over. */
const GIVE_UP = `UPDATE object SET due = now() + interval '1 hour' WHERE id = $1::uuid AND due IS NOT NULL`

/**
 * Sends a body to a new object.
 *
 * @param rows connections whose commits are on disk when they are answered
 */
export function intoObject(objects: Objects, rows: Session): Outflow {
  const id = randomUUID()
  const digests = threeDigests()
  const upload = objects.upload(id, { note: async () => void (await rows.run(NOTE, id)) })
  let size = 0
  return {
    async fill(piece) {
      for (let from = 0; from < piece.length; from += BLOCK) {
        const part = piece.subarray(from, from + BLOCK)
        digests.update(part)
        await upload.write(part)
        size += part.length
        collectAt(size, part.length)
        await setImmediate()
      }
    },
    async finish() {
      await upload.finish()
      // Without it somebody looks a day later.
      const discard = () =>
        rows.run(GIVE_UP, id).then(
          () => undefined,
          () => undefined,
        )
      return { ...digests.digest(), size, place: OBJECT + id, discard }
    },
    async abandon() {
      // What cannot be taken back now is found by its row.
      if (await upload.abandon()) await rows.run('DELETE FROM object WHERE id = $1::uuid', id).catch(() => undefined)
    },
  }
}

/** A blob in an object. */
export function objectBlob(objects: Objects, id: string, size: number, sha256: string): StoredBlob {
  return { size, open: span => objects.open(id, size, span, sha256) }
}
