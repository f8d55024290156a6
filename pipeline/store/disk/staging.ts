/**
 * Bodies on their way in: small ones stay in memory, larger ones go to a file in blocks, each of which is written while it is
 * hashed; where SHA-1 and MD5 are asked for, by two threads more. Memory stays constant, and what is not finished leaves
 * nothing.
 */

import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { memoryBlob, type StagedBlob, StagingError, type StagingOptions } from '../blobs.ts'
import { StoreError } from '../errors.ts'
import { dropYoungGarbage } from '../garbage-collection.ts'
import { OWN_FILE } from '../modes.ts'
import type { Digesting, DigestThreads } from './digests.ts'
import { HOST, isDiskFull, isUnwritable, stagedName, stagingFolder } from './folder.ts'

/** Bytes of a block and blocks on their way per body. */
const BLOCK = 512 * 1024
const BLOCKS = 4

/** Blocks kept for the next body. */
const SPARE = 16

/** Bytes after which the disk is asked to start writing, so that the end of a body does not wait for all of it. */
const SYNC_EVERY = 32 * 1024 * 1024

/** Bytes after which the buffers they arrived in are collected. */
const COLLECT_EVERY = 4 * 1024 * 1024

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
  sha256: ReturnType<typeof createHash>
  digesting: Digesting | undefined
  /** Blocks that may be filled. */
  free: SharedArrayBuffer[]
  /** Blocks being hashed or written, the oldest first. */
  busy: Promise<SharedArrayBuffer>[]
  size: number
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

  const newBlock = () => spare.pop() ?? new SharedArrayBuffer(BLOCK)

  async function begin(checksums: boolean): Promise<Outflow> {
    const file = join(directory, stagedName(`${PROCESS}-${++count}`))
    const handle = await open(file, 'wx', OWN_FILE)
    return {
      handle,
      file,
      sha256: createHash('sha256'),
      digesting: checksums ? threads.start() : undefined,
      free: [],
      busy: [],
      size: 0,
      synced: 0,
      sync: Promise.resolve(),
    }
  }

  /** Hands a full block to the hashing threads and the disk; computes SHA-256 meanwhile. */
  function send(out: Outflow, block: SharedArrayBuffer, length: number): void {
    const bytes = new Uint8Array(block, 0, length)
    const position = out.size
    out.size += length
    const work = Promise.all([out.digesting?.update(block, length), writeAll(out.handle, bytes, position)])
    const done = work.then(() => block)
    // Awaited later; a failure meanwhile must not count as unhandled.
    done.catch(() => undefined)
    out.busy.push(done)
    out.sha256.update(bytes)
    if (out.size % COLLECT_EVERY < length) dropYoungGarbage()
    if (out.size - out.synced >= SYNC_EVERY) {
      out.synced = out.size
      out.sync = out.sync.then(() => out.handle.datasync())
      out.sync.catch(() => undefined)
    }
  }

  async function drain(out: Outflow): Promise<void> {
    out.free.push(...(await Promise.all(out.busy)))
    out.busy = []
  }

  async function finish(out: Outflow): Promise<StagedBlob> {
    await drain(out)
    const { sha1, md5 } = (await out.digesting?.finish()) ?? {}
    await out.sync
    await out.handle.datasync()
    await out.handle.close()
    spare.push(...out.free.slice(0, SPARE - spare.length))
    const { file, size } = out
    return { sha256: out.sha256.digest('hex'), sha1, md5, size, place: file, discard: () => rm(file, { force: true }) }
  }

  async function abandon(out: Outflow): Promise<void> {
    // Nothing may write to the file or the blocks any more when they are given away.
    await Promise.allSettled([...out.busy, out.sync])
    out.digesting?.abort()
    await out.handle.close().catch(() => undefined)
    await rm(out.file, { force: true })
  }

  return {
    async stage(body, { limit, seen, checksums = false }) {
      let size = 0
      let chunks: Uint8Array[] = []
      let out: Outflow | undefined
      let block: SharedArrayBuffer | undefined
      let filled = 0

      /** Copies into blocks, waiting while all of them are on their way. */
      async function fill(flow: Outflow, chunk: Uint8Array): Promise<void> {
        for (let from = 0; from < chunk.length; ) {
          block ??= flow.free.pop() ?? (flow.busy.length < BLOCKS ? newBlock() : await flow.busy.shift()) ?? newBlock()
          const part = chunk.subarray(from, from + BLOCK - filled)
          new Uint8Array(block, filled).set(part)
          filled += part.length
          from += part.length
          if (filled === BLOCK) {
            send(flow, block, filled)
            block = undefined
            filled = 0
          }
        }
      }

      try {
        // The caller decides what becomes of the stream: a request must survive to be answered.
        for await (const piece of arriving(body)) {
          size += piece.length
          seen?.(piece)
          if (size > limit) throw new StagingError('too-large')
          if (out === undefined && size <= inlineLimit) {
            chunks.push(piece)
            continue
          }
          if (out === undefined) {
            out = await begin(checksums)
            for (const chunk of chunks) await fill(out, chunk)
            chunks = []
          }
          await fill(out, piece)
        }
        if (out === undefined) return memoryBlob(Buffer.concat(chunks))
        if (block !== undefined) send(out, block, filled)
        return await finish(out)
      } catch (error) {
        if (out !== undefined) await abandon(out)
        if (error instanceof StagingError || error instanceof StoreError) throw error
        const reason = isDiskFull(error) ? 'full' : isUnwritable(error) ? 'unwritable' : 'failed'
        throw new StoreError(reason, 'The body could not be written', { cause: error })
      }
    },
    async clean() {
      for (const name of await readdir(directory)) {
        const file = join(directory, name)
        const alive = isAlive(name)
        const written = alive === undefined ? (await stat(file).catch(() => undefined))?.mtimeMs : undefined
        const abandoned = written !== undefined && Date.now() - written > ABANDONED
        if (alive === false || abandoned) await rm(file, { force: true })
      }
    },
    relax() {
      spare.length = 0
    },
  }
}

/** Writes all bytes at a position. */
async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    from += (await handle.write(bytes, from, bytes.length - from, position + from)).bytesWritten
  }
}

/** Pieces of a stream as bytes, the stream itself left open. @throws StagingError when it ends early */
async function* arriving(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  } catch (error) {
    throw new StagingError('aborted', { cause: error })
  }
}
