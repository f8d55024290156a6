/** Blobs that are files of this machine. */

import { open } from 'node:fs/promises'
import type { StoredBlob } from '../blobs.ts'

/** @param size bytes */
export function fileBlob(file: string, size: number): StoredBlob {
  return {
    file,
    size,
    async open() {
      const handle = await open(file, 'r')
      return {
        read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
        close: () => handle.close(),
      }
    },
  }
}
