/**
 * SHA-1 and MD5 of blobs (DAV-43). Whoever names one in an upload has them computed while it arrives; of other bodies they
 * are computed when somebody asks, or when no body has come for a moment. They are kept from then on.
 */

import type { DigestThreads, WeakDigests } from '../disk/digests.ts'
import { blobFile } from '../disk/folder.ts'
import type { Database } from './database.ts'

/** Milliseconds without a body after which those of the last ones are computed. */
const QUIET = 2000

export interface Checksums {
  /** @param digest SHA-256 of a blob whose row has none @returns undefined where its bytes cannot be read */
  of(digest: string): Promise<WeakDigests | undefined>
  /** A body begins to arrive. @returns to be called when that is over */
  arrives(): () => void
  /** A commit has stored a blob without them. */
  lookLater(): void
  close(): void
}

/**
 * @param database a connection for reading
 * @param store keeps what was computed; it may fail
 */
export function createChecksums(parts: {
  database: Database
  folder: string
  threads: DigestThreads
  store: (digest: string, sums: WeakDigests) => Promise<unknown>
  /** Milliseconds. */
  quiet?: number | undefined
}): Checksums {
  const { database, folder, threads, store, quiet = QUIET } = parts
  const unknown = database.prepare<{ digest: string }>(
    "SELECT digest FROM blob WHERE sha1 = '' AND unused IS NULL AND digest > ? ORDER BY digest LIMIT 1",
  )
  const underWay = new Map<string, Promise<WeakDigests | undefined>>()
  /** Those who ask wait for each other, but not for what nobody has asked for. */
  let asked: Promise<unknown> = Promise.resolve()
  let arriving = 0
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  let isCatchingUp = false
  /** Digest up to which the blobs have been looked at. */
  let last = ''

  async function compute(digest: string, hurry: boolean): Promise<WeakDigests | undefined> {
    if (closed) return undefined
    const sums = await threads.ofFile(blobFile(folder, digest), hurry)
    // What cannot be stored now is computed again.
    if (sums) await store(digest, sums).catch(() => undefined)
    return sums
  }

  /** At most one at a time for each digest. */
  function once(digest: string, begin: () => Promise<WeakDigests | undefined>): Promise<WeakDigests | undefined> {
    const known = underWay.get(digest)
    if (known) return known
    const sums = begin().finally(() => underWay.delete(digest))
    underWay.set(digest, sums)
    return sums
  }

  /** Computes what is unknown until another body comes; at least one. @returns whether that was all */
  async function catchUp(): Promise<boolean> {
    do {
      const next = unknown.get(last)?.digest
      // What cannot be read is passed over.
      last = next ?? ''
      if (next === undefined) return true
      await once(next, () => compute(next, false))
    } while (arriving === 0 && !closed)
    return false
  }

  function lookLater(): void {
    isDue = true
    if (closed || isCatchingUp) return
    clearTimeout(timer)
    timer = setTimeout(look, quiet).unref()
  }

  async function look(): Promise<void> {
    isDue = false
    isCatchingUp = true
    const isDone = await catchUp().catch(() => true)
    isCatchingUp = false
    if (!isDone || isDue) lookLater()
    else threads.relax()
  }

  if (unknown.get('')) lookLater()

  return {
    of(digest) {
      return once(digest, () => {
        const sums = asked.then(() => compute(digest, true))
        asked = sums.catch(() => undefined)
        return sums
      })
    },
    arrives() {
      arriving++
      return () => {
        arriving--
      }
    },
    lookLater,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
