/**
 * Computes one digest of bodies while they arrive, SHA-256 of large ones from the file that they go to, and digests of files
 * that are there, so that the main thread has to compute SHA-256 of small bodies only.
 */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** What the thread computes of bodies that arrive. */
export type WeakDigest = 'sha1' | 'md5'

/** A message to the thread. Blocks of one body arrive in order. */
export type DigestMessage =
  | { body: number; block: SharedArrayBuffer; length: number }
  | { body: number; follow: string }
  | { body: number; until: number }
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

/** A file that grows, and how far it has been read. */
interface Followed {
  hash: Hash
  file: number
  at: number
}

const followed = new Map<number, Followed>()
/** Of this thread: a file is read in one go as far as it is there. */
const shared = Buffer.allocUnsafeSlow(PIECE)

/** @throws Error where the file cannot be read, or ends before */
function readUntil(body: number, until: number): void {
  const to = followed.get(body)
  if (!to) return
  while (to.at < until) {
    const bytes = readSync(to.file, shared, 0, Math.min(PIECE, until - to.at), to.at)
    if (bytes === 0) throw new Error('The file ended before what was written to it')
    to.hash.update(shared.subarray(0, bytes))
    to.at += bytes
  }
}

/** @returns the digest; undefined where the file could not be read */
function stopFollowing(body: number): string | undefined {
  const to = followed.get(body)
  if (to) closeSync(to.file)
  followed.delete(body)
  return to?.hash.digest('hex')
}

/** What becomes of a body whose file is followed. Nobody waits for it until its end, which tells that it failed. */
function follow(message: Extract<DigestMessage, { follow: string } | { until: number }>): void {
  const { body } = message
  try {
    if ('until' in message) readUntil(body, message.until)
    else followed.set(body, { hash: createHash('sha256'), file: openSync(message.follow, 'r'), at: 0 })
  } catch {
    stopFollowing(body)
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
  if ('follow' in message || 'until' in message) {
    follow(message)
    return
  }
  let reply: DigestReply | undefined
  if ('block' in message) {
    const hash = bodies.get(body) ?? start(body)
    hash.update(new Uint8Array(message.block, 0, message.length))
    reply = { body, free: true }
  } else {
    const digest = stopFollowing(body) ?? bodies.get(body)?.digest('hex')
    bodies.delete(body)
    if ('finish' in message) reply = { body, digests: digest === undefined ? undefined : [digest] }
  }
  if (reply !== undefined) answer(reply)
})
