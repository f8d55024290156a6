/** Bytes that are here already, in the form in which writes take bodies. */

import { hash } from 'node:crypto'
import type { StagedBlob } from '../../pipeline/site/resource-tags.ts'
import type { BodySource } from '../../pipeline/write/document.ts'

export function memoryBody(bytes: Uint8Array): BodySource {
  return { bytes: async () => bytes, stage: async () => memoryBlob(bytes) }
}

/** As if it had been staged; the weak digests are made when somebody asks for them. */
export function memoryBlob(bytes: Uint8Array): StagedBlob {
  return {
    sha256: hash('sha256', bytes),
    get sha1() {
      return hash('sha1', bytes)
    },
    get md5() {
      return hash('md5', bytes)
    },
    size: bytes.length,
    bytes,
    discard: async () => undefined,
  }
}
