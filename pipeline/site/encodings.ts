/** Compressed copies of stored bytes, made in the background so that no request waits for them. */

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'br' | 'gzip'

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** Below this size the head of an answer outweighs what compression saves. */
export const SMALLEST_COMPRESSED = 860
/** Above this size a copy takes more time and memory than it is likely to save. */
export const LARGEST_COMPRESSED = 8 * 1024 * 1024

/** Work is done one piece at a time: compression must leave processors to requests. */
let queue: Promise<unknown> = Promise.resolve()

/**
 * @returns the compressed bytes; made in the thread pool, in order of the calls
 */
export function compress(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
  const run = () =>
    coding === 'br'
      ? brotli(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        })
      : deflate(bytes, { level: 6 })
  const result = queue.then(run)
  queue = result.catch(() => undefined)
  return result
}
