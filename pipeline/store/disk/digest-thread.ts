/** Computes one digest of bodies while they arrive, so that the main thread has to compute SHA-256 only. */

import { createHash, type Hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

/** What the thread computes. */
export type WeakDigest = 'sha1' | 'md5'

/** A message to the thread. Blocks of one body arrive in order. */
export type DigestMessage =
  | { body: number; block: SharedArrayBuffer; length: number }
  | { body: number; finish: true }
  | { body: number; abort: true }

/** What it says: a block may be used again, or the digest of a body is known (lower-case hex). */
export type DigestReply = { body: number; free: true } | { body: number; digest: string }

const algorithm: WeakDigest = workerData
const bodies = new Map<number, Hash>()

function start(body: number): Hash {
  const hash = createHash(algorithm)
  bodies.set(body, hash)
  return hash
}

parentPort?.on('message', (message: DigestMessage) => {
  const { body } = message
  let reply: DigestReply | undefined
  if ('block' in message) {
    const hash = bodies.get(body) ?? start(body)
    hash.update(new Uint8Array(message.block, 0, message.length))
    reply = { body, free: true }
  } else {
    const hash = bodies.get(body)
    if (hash !== undefined && 'finish' in message) reply = { body, digest: hash.digest('hex') }
    bodies.delete(body)
  }
  if (reply !== undefined) parentPort?.postMessage(reply)
})
