/** Computes SHA-1 and MD5 of bodies while they arrive, so that the main thread has to compute SHA-256 only. */

import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** A message to the thread. Blocks of one body arrive in order. */
export type DigestMessage =
  | { body: number; block: SharedArrayBuffer; length: number }
  | { body: number; finish: true }
  | { body: number; abort: true }

/** What it says: a block may be used again, or the digests of a body are known (lower-case hex). */
export type DigestReply = { body: number; free: true } | { body: number; sha1: string; md5: string }

const bodies = new Map<number, { sha1: Hash; md5: Hash }>()

function start(body: number) {
  const hashes = { sha1: createHash('sha1'), md5: createHash('md5') }
  bodies.set(body, hashes)
  return hashes
}

parentPort?.on('message', (message: DigestMessage) => {
  const { body } = message
  let reply: DigestReply | undefined
  if ('block' in message) {
    const bytes = new Uint8Array(message.block, 0, message.length)
    const { sha1, md5 } = bodies.get(body) ?? start(body)
    sha1.update(bytes)
    md5.update(bytes)
    reply = { body, free: true }
  } else {
    const hashes = bodies.get(body)
    if (hashes !== undefined && 'finish' in message) {
      reply = { body, sha1: hashes.sha1.digest('hex'), md5: hashes.md5.digest('hex') }
    }
    bodies.delete(body)
  }
  if (reply !== undefined) parentPort?.postMessage(reply)
})
