/**
 * Computes one digest of bodies while they arrive, and digests of files that are there, so that the main thread has to
 * compute SHA-256 only.
 */

import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** What the thread computes of bodies that arrive. */
export type WeakDigest = 'sha1' | 'md5'

/** A message to the thread. Blocks of one body arrive in order. */
export type DigestMessage =
  | { body: number; block: SharedArrayBuffer; length: number }
  | { body: number; finish: true }
  | { body: number; abort: true }
  | { body: number; file: string; algorithms: readonly WeakDigest[] }

/** What it says: a block may be used again, the digests of a body are known (lower-case hex), or a file cannot be read. */
export type DigestReply = { body: number; free: true } | { body: number; digests: readonly string[] | undefined }

/** Bytes of a file read at once; in between, bodies that arrive have their turn. */
const PIECE = 256 * 1024

const algorithm: WeakDigest = workerData
const bodies = new Map<number, Hash>()

function start(body: number): Hash {
  const hash = createHash(algorithm)
  bodies.set(body, hash)
  return hash
}

async function digestsOf(file: string, algorithms: readonly WeakDigest[]): Promise<string[]> {
  const hashes = algorithms.map(each => createHash(each))
  const buffer = Buffer.allocUnsafeSlow(PIECE)
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, PIECE)
      if (bytesRead === 0) return hashes.map(hash => hash.digest('hex'))
      for (const hash of hashes) hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}

function answer(reply: DigestReply): void {
  parentPort?.postMessage(reply)
}

parentPort?.on('message', (message: DigestMessage) => {
  const { body } = message
  if ('file' in message) {
    digestsOf(message.file, message.algorithms).then(
      digests => answer({ body, digests }),
      () => answer({ body, digests: undefined }),
    )
    return
  }
  let reply: DigestReply | undefined
  if ('block' in message) {
    const hash = bodies.get(body) ?? start(body)
    hash.update(new Uint8Array(message.block, 0, message.length))
    reply = { body, free: true }
  } else {
    const hash = bodies.get(body)
    if (hash !== undefined && 'finish' in message) reply = { body, digests: [hash.digest('hex')] }
    bodies.delete(body)
  }
  if (reply !== undefined) answer(reply)
})
