/**
 * Bodies on their way in: small ones stay in memory, larger ones go to a file in blocks, each of which is written as it has
 * arrived while it is hashed; of a large one a thread reads what is written, and hashes it. Where SHA-1 and MD5 are asked for,
 * two threads have a copy. Memory stays constant, and what is not finished leaves nothing.
 */

import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finished, type Readable } from 'node:stream'
import { KeptPieces } from '../../kept-pieces.ts'
import { memoryBlob, type OpenFiles, type StagedBlob, StagingError, type StagingOptions } from '../blobs.ts'
import { StoreError } from '../errors.ts'
import { collectAt } from '../garbage-collection.ts'
import { OWN_FILE } from '../modes.ts'
import type { Digesting, DigestThreads, Following } from './digests.ts'
import { HOST, isDiskFull, isUnwritable, messageOf, stagedName, stagingFolder } from './folder.ts'

/**
 * Bytes written at once. For longer writes Linux takes memory that is whole in large pieces, which a virtual machine may have
 * given back to its host: then its first use costs more than all the rest.
 */
const BLOCK = 128 * 1024

/** Pieces written at once at most, however short they are, and blocks on their way per body. */
const PIECES = 64
const BLOCKS = 16

/** Copies of blocks kept for the hashing of the next body. */
const SPARE = 16

/** Bytes after which the disk is asked to start writing, so that the end of a body does not wait for all of it. */
const SYNC_EVERY = 32 * 1024 * 1024

/** Bytes from which on a thread hashes a body; what was hashed until then is hashed again, so that its beginning is short. */
const FOLLOWED = 4 * 1024 * 1024

/** Bytes written of which that thread is told at once. */
const STEP = 1024 * 1024

/** Age in milliseconds at which a file of a process that cannot be asked counts as left behind. */
const ABANDONED = 24 * 60 * 60_000

/** Tells this process from an earlier one of the same number. */
const PROCESS = randomBytes(6).toString('hex')

export interface Staging {
  stage(body: Readable, options: StagingOptions): Promise<StagedBlob>
  /** Removes what processes that are gone have left behind. */
  clean(): Promise<void>
  /** Gives back blocks that wait for the next body. */
  relax(): void
}

/** A body that goes to a file. */
interface Outflow {
  handle: FileHandle
  file: string
  /** What it has open. */
  opened: Opened
  /** Of a body that is not followed. */
  sha256: ReturnType<typeof createHash>
  following: Following | undefined
  /** Bytes from which on one is asked for. */
  followed: number
  digesting: Digesting | undefined
  /** What has arrived since the last write, and how many bytes that is. */
  pieces: Uint8Array[]
  waiting: number
  /** Blocks being hashed or written, the oldest first. */
  busy: Promise<void>[]
  size: number
  /** Settles when everything so far is in the file. */
  written: Promise<unknown>
  /** How much of it the thread was told of. */
  told: number
  synced: number
  sync: Promise<void>
}

/** Whether the process that wrote a staged file can still need it. */
function isAlive(name: string): boolean | undefined {
  const [host, pid, token] = name.split('-')
  if (host !== HOST || pid === undefined) return undefined
  if (Number(pid) === process.pid) return token === PROCESS
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    // Somebody else's process may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * @param folder of the store
 * @param inlineLimit bytes up to which bodies stay in memory
 * @param threads compute SHA-1 and MD5
 */
export function createStaging(folder: string, inlineLimit: number, threads: DigestThreads): Staging {
  const directory = stagingFolder(folder)
  const spare: SharedArrayBuffer[] = []
  let count = 0

  async function begin(checksums: boolean, files: OpenFiles | undefined): Promise<Outflow> {
    const opened = opening(files)
    if (!opened.more()) throw withoutDescriptors()
    const file = join(directory, stagedName(`${PROCESS}-${++count}`))
    const handle = await open(file, 'wx', OWN_FILE).catch(error => {
      opened.close()
      throw error
    })
    return {
      handle,
      file,
      opened,
      sha256: createHash('sha256'),
      following: undefined,
      followed: FOLLOWED,
      digesting: checksums ? threads.start() : undefined,
      pieces: [],
      waiting: 0,
      busy: [],
      size: 0,
      written: Promise.resolve(),
      told: 0,
      synced: 0,
      sync: Promise.resolve(),
    }
  }

  /** Hands a copy of some pieces to the hashing threads. */
  async function digest(digesting: Digesting, pieces: readonly Uint8Array[]): Promise<void> {
    const block = spare.pop() ?? new SharedArrayBuffer(BLOCK)
    const length = joinInto(new Uint8Array(block), pieces)
    await digesting.update(block, length)
    if (spare.length < SPARE) spare.push(block)
  }

  /** Hands a block to the disk, as it has arrived, and to the hashing threads; computes SHA-256 meanwhile. */
  function send(out: Outflow): void {
    const { handle, digesting, pieces, waiting: length } = out
    const position = out.size
    out.pieces = []
    out.waiting = 0
    out.size += length
    const writing = writeAll(handle, pieces, position)
    const done = digesting ? Promise.all([writing, digest(digesting, pieces)]).then(() => undefined) : writing
    // Awaited later; a failure meanwhile must not count as unhandled.
    done.catch(() => undefined)
    out.busy.push(done)
    if (out.following === undefined && out.size >= out.followed) {
      if (out.opened.more()) out.following = threads.follow(out.file)
      else out.followed = 2 * out.size
    }
    if (out.following === undefined) for (const piece of pieces) out.sha256.update(piece)
    out.written = Promise.all([out.written, writing]).then(() => tell(out, position + length))
    out.written.catch(() => undefined)
    collectAt(out.size, length)
    if (out.size - out.synced >= SYNC_EVERY) {
      out.synced = out.size
      out.sync = out.sync.then(() => out.handle.datasync())
      out.sync.catch(() => undefined)
    }
  }

  /** @param written bytes at the begin of the file */
  function tell(out: Outflow, written: number): void {
    if (out.following === undefined || written - out.told < STEP) return
    out.told = written
    out.following.reach(written)
  }

  /** Of all bytes, which are in the file. */
  async function sha256Of({ following, sha256, size }: Outflow): Promise<string> {
    if (following === undefined) return sha256.digest('hex')
    following.reach(size)
    return following.finish()
  }

  /** @returns settles when there is room for more; undefined where there is */
  function fill(out: Outflow, piece: Uint8Array): Promise<void> | undefined {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BLOCK - out.waiting)
      out.pieces.push(part)
      out.waiting += part.length
      from += part.length
      if (out.waiting === BLOCK || out.pieces.length === PIECES) send(out)
    }
    return out.busy.length < BLOCKS ? undefined : makeRoom(out)
  }

  /** Waits for the oldest blocks. */
  async function makeRoom({ busy }: Outflow): Promise<void> {
    while (busy.length >= BLOCKS) await busy.shift()
  }

  async function finish(out: Outflow): Promise<StagedBlob> {
    if (out.waiting > 0) send(out)
    await Promise.all(out.busy)
    const { sha1, md5 } = (await out.digesting?.finish()) ?? {}
    const [sha256] = await Promise.all([sha256Of(out), out.sync.then(() => out.handle.datasync())])
    await out.handle.close()
    out.opened.close()
    const { file, size } = out
    return { sha256, sha1, md5, size, place: file, discard: () => remove(file) }
  }

  async function abandon(out: Outflow): Promise<void> {
    // Nothing may write to the file or the blocks any more when they are given away.
    await Promise.allSettled([...out.busy, out.sync])
    out.digesting?.abort()
    out.following?.abort()
    await out.handle.close().catch(() => undefined)
    out.opened.close()
    await remove(out.file)
  }

  return {
    async stage(body, { limit, seen, checksums = false, files }) {
      let size = 0
      const early = new KeptPieces()
      let out: Outflow | undefined

      const start = async () => {
        out = await begin(checksums, files)
        for (const piece of early.all) await fill(out, piece)
        early.clear()
      }

      try {
        // The caller decides what becomes of the stream: a request must survive to be answered.
        await eachPiece(body, piece => {
          size += piece.length
          seen?.(piece)
          if (size > limit) throw new StagingError('too-large')
          if (out !== undefined) return fill(out, piece)
          early.add(piece)
          return size > inlineLimit ? start() : undefined
        })
        return out === undefined ? memoryBlob(Buffer.concat(early.all)) : await finish(out)
      } catch (error) {
        if (out !== undefined) await abandon(out)
        if (error instanceof StagingError || error instanceof StoreError) throw error
        const reason = isDiskFull(error) ? 'full' : isUnwritable(error) ? 'unwritable' : 'failed'
        const told = reason === 'full' ? 'No space is left for what is to be stored' : 'The body could not be written'
        if (error instanceof Error) error.message = messageOf(error)
        throw new StoreError(reason, told, { cause: error })
      }
    },
    async clean() {
      for (const name of await readdir(directory)) {
        const file = join(directory, name)
        const alive = isAlive(name)
        const written = alive === undefined ? (await stat(file).catch(() => undefined))?.mtimeMs : undefined
        const abandoned = written !== undefined && Date.now() - written > ABANDONED
        if (alive === false || abandoned) await remove(file)
      }
    },
    relax() {
      spare.length = 0
    },
  }
}

interface Opened {
  /** @returns false, and counts nothing, where there is no descriptor for one more */
  more(): boolean
  /** Harmless when called twice. */
  close(): void
}

/** Counts the files of one body until all of them are closed. */
function opening(files: OpenFiles = { count: 0, mayOpen: () => true }): Opened {
  let own = 0
  return {
    more() {
      if (!files.mayOpen()) return false
      own++
      files.count++
      return true
    },
    close() {
      files.count -= own
      own = 0
    },
  }
}

/** As the system says it. */
function withoutDescriptors(): Error {
  return Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
}

/** What cannot be removed now is when the next process cleans up. */
async function remove(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined)
}

/** Writes all bytes at a position. */
async function writeAll(handle: FileHandle, pieces: Uint8Array[], position: number): Promise<void> {
  for (let [left, at] = [pieces, position]; left.length > 0; ) {
    const { bytesWritten } = await handle.writev(left, at)
    at += bytesWritten
    left = behind(left, bytesWritten)
  }
}

/** What is left of some pieces behind their first bytes. */
function behind(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = 0
  return pieces.flatMap(piece => {
    const from = Math.min(Math.max(bytes - skipped, 0), piece.length)
    skipped += piece.length
    return from === piece.length ? [] : [piece.subarray(from)]
  })
}

/** @returns how many bytes there are together */
function joinInto(target: Uint8Array, pieces: readonly Uint8Array[]): number {
  let at = 0
  for (const piece of pieces) {
    target.set(piece, at)
    at += piece.length
  }
  return at
}

/**
 * Hands over the pieces of a stream as they come, none of which is copied; the stream itself is left open.
 *
 * @param take may ask for time until it can take more
 * @throws StagingError when the stream ends early; whatever `take` throws
 */
function eachPiece(body: Readable, take: (piece: Uint8Array) => Promise<void> | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let busy: Promise<void> | undefined
  let isOver = false
  const stop = () => {
    isOver = true
    body.off('data', onData)
    body.off('end', end)
    body.pause()
    ignoreEnd()
  }
  // Whoever is told has nothing under way any more.
  const fail = (error: unknown) => {
    stop()
    void Promise.allSettled([busy]).then(() => reject(error))
  }
  // A stream that was paused for its last piece ends all the same.
  const end = () => {
    stop()
    resolve(busy)
  }
  const goOn = () => {
    busy = undefined
    if (!isOver) body.resume()
  }
  const onData = (piece: Uint8Array | string) => {
    try {
      busy = take(typeof piece === 'string' ? Buffer.from(piece) : piece)
    } catch (error) {
      fail(error)
      return
    }
    if (!busy) return
    body.pause()
    busy.then(goOn, fail)
  }
  const ignoreEnd = finished(body, { writable: false }, cause => {
    if (cause) fail(new StagingError('aborted', { cause }))
    else end()
  })
  body.once('end', end)
  body.on('data', onData)
  return promise
}
