/**
 * A journal of lines: what was appended outlives the process when the promise settles, and a moment later the machine. When
 * the file has grown, it is rewritten from the state it describes.
 *
 * A lock that a power cut undoes costs its holder a 412 (DAV-89) and nobody a change, so no request waits for the disk.
 */

import { writeSync } from 'node:fs'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Bytes that a journal may grow by before it is rewritten, however small the state is. */
const SLACK = 1024 * 1024

/** Milliseconds after which appended lines are brought to the disk. */
const FLUSH_AFTER = 100

/** Lines written at once while the state is rewritten, so that nobody waits for the whole of it. */
const SLICE = 500

export interface Journal {
  /** @returns settles when the line is in the file; rejects when it could not be written */
  append(line: string): Promise<void>
  close(): Promise<void>
}

export interface JournalOptions {
  file: string
  /**
   * Takes the lines that are in the file, oldest first, before the journal opens. Lines that were being written when a
   * process or machine went down may be missing or mutilated; they were not acknowledged.
   */
  replay: (line: string) => void
  /**
   * Lines that bring about the present state. The state may change while they are fetched: what is appended meanwhile
   * follows them, so replaying a line again must change nothing.
   */
  state: () => Iterable<string>
}

interface Batch {
  lines: string[]
  written: PromiseWithResolvers<void>
}

function newBatch(): Batch {
  const written = Promise.withResolvers<void>()
  // Whoever appended has the same promise; without appends nobody needs to hear.
  written.promise.catch(() => undefined)
  return { lines: [], written }
}

/** Opens a journal, made when absent: replays what it holds, then rewrites it. */
export async function openJournal({ file, replay, state }: JournalOptions): Promise<Journal> {
  for (const line of await readLines(file)) replay(line)

  let handle: FileHandle | undefined
  let size = 0
  let limit = 0
  let waiting = newBatch()
  let working: Promise<void> | undefined
  let flushing: NodeJS.Timeout | undefined
  let closed = false

  async function rewrite(): Promise<void> {
    const written = await writeNext(`${file}.new`, state())
    // Some systems replace no file that is open. Without a handle, the next append begins here again.
    const old = handle
    handle = undefined
    await old?.close()
    await rename(`${file}.new`, file)
    await syncFolder(dirname(file))
    handle = await open(file, 'a')
    size = written
    limit = 2 * written + SLACK
  }

  async function write(lines: readonly string[]): Promise<void> {
    // What is appended is part of the state already.
    if (!handle || size > limit) return rewrite()
    const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
    try {
      // Into the memory of the system, which takes less time than asking another thread to do it.
      for (let from = 0; from < bytes.length; ) from += writeSync(handle.fd, bytes, from)
      size += bytes.length
      flushing ??= setTimeout(flush, FLUSH_AFTER)
    } catch (error) {
      // Nobody knows what the file holds now, so the next append writes another one.
      limit = -1
      throw error
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(flushing)
    flushing = undefined
    await handle?.datasync().catch(() => {
      limit = -1
    })
  }

  async function work(): Promise<void> {
    while (waiting.lines.length > 0) {
      const { lines, written } = waiting
      waiting = newBatch()
      await write(lines).then(written.resolve, written.reject)
    }
    working = undefined
  }

  await rewrite()
  return {
    append(line) {
      if (closed) return Promise.reject(new Error('The journal is closed'))
      waiting.lines.push(line)
      const { promise } = waiting.written
      working ??= work()
      return promise
    },
    async close() {
      closed = true
      await working
      await flush()
      await handle?.close()
      handle = undefined
    },
  }
}

/** @returns bytes written */
async function writeNext(file: string, lines: Iterable<string>): Promise<number> {
  const handle = await open(file, 'w', 0o600)
  let written = 0
  try {
    for (const slice of slices(lines, SLICE)) {
      const bytes = Buffer.from(slice.join(''))
      await handle.appendFile(bytes)
      written += bytes.length
    }
    await handle.datasync()
  } finally {
    await handle.close()
  }
  return written
}

async function readLines(file: string): Promise<string[]> {
  try {
    return (await readFile(file, 'utf8')).split('\n').filter(line => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function* slices(lines: Iterable<string>, length: number): Iterable<string[]> {
  let slice: string[] = []
  for (const line of lines) {
    slice.push(`${line}\n`)
    if (slice.length < length) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}

/** Brings the new name of a file to disk. Windows has no such call and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
