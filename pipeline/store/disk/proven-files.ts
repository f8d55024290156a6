/**
 * Files of blobs on this machine. One that is read as a whole is proved by its digest, once as long as the system says that nobody
 * has written to it: the proof takes more of the processor than a download does. One that was found to be damaged is read no more
 * until it has been replaced.
 */

import type { BigIntStats } from 'node:fs'
import { open } from 'node:fs/promises'
import { OrderedMap } from '../../ordered-map.ts'
import type { StoredBlob } from '../blobs.ts'
import { BlobChanged } from '../errors.ts'
import { isWhole, proving } from '../proof.ts'
import { blobFile } from './folder.ts'

/** Files of which it is remembered, in some 2 MB: others are proved again. */
const MOST = 8192

export interface ProvenFiles {
  /** @param size bytes */
  blob(digest: string, size: number): StoredBlob
}

/** Differs as soon as somebody has written to a file, or put another one in its place. */
function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

/** @param folder of the store */
export function createProvenFiles(folder: string, most = MOST): ProvenFiles {
  const known = new OrderedMap<string, { state: string; isSound: boolean }>()

  function note(digest: string, state: string, isSound: boolean): void {
    known.set(digest, { state, isSound })
    if (known.size > most && known.oldest !== undefined) known.delete(known.oldest)
  }

  /** Whether a file is sound, as far as it was proved in this state. */
  function knownOf(digest: string, state: string): boolean | undefined {
    const last = known.use(digest)
    return last?.state === state ? last.isSound : undefined
  }

  return {
    blob(digest, size) {
      const file = blobFile(folder, digest)
      return {
        file,
        size,
        async open(span) {
          const handle = await open(file, 'r')
          try {
            const found = await handle.stat({ bigint: true })
            if (found.size !== BigInt(size))
              throw new BlobChanged(`${file} does not have the ${size} bytes that were stored`)
            const state = stateOf(found)
            const isSound = knownOf(digest, state)
            if (isSound === false) throw new BlobChanged(`${file} does not have the bytes that were stored`)
            const reader = {
              read: async (buffer: Uint8Array, position: number) =>
                (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
              close: () => handle.close(),
            }
            if (isSound || !isWhole(size, span)) return reader
            return proving(reader, { what: file, size, sha256: digest }, sound => note(digest, state, sound))
          } catch (error) {
            await handle.close()
            throw error
          }
        },
      }
    },
  }
}
