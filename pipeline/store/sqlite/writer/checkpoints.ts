/**
 * Checkpoints beside commits: a thread of its own brings what was committed from the log into the database and waits for the
 * disk, so that nobody's commit does. It never catches up with commits that go on; the rest, which is little, is brought over
 * by the writing thread itself, rarely or when nothing else is to be done, so that the log begins anew.
 */

import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../thread.ts'
import type { Database } from '../database.ts'

/** When what is done, in pages of the log. */
export interface CheckpointSizes {
  /** Are worth a checkpoint beside commits. */
  many: number
  /** From here on the log is to begin anew, once few are left to bring over. */
  full: number
  /** Are brought over by the writing thread then. */
  few: number
  /** From here on it brings over all that are left. */
  most: number
  /** After so many another attempt is made while a reader keeps the log from beginning anew. */
  more: number
  /** Are brought over when nothing is committed. */
  some: number
}

/** All are less than what the log is cut to, which is some 16,000. */
const SIZES: CheckpointSizes = { many: 4000, full: 12_000, few: 500, most: 15_000, more: 1000, some: 1000 }

/** Milliseconds for which commits wait for a checkpoint on a disk that is slower than they are. */
const PATIENCE = 1000

/** Milliseconds without a commit after which nothing is committed. */
const IDLE = 250

/** What the thread is started with. */
export interface CheckpointData {
  folder: string
  /** One word, which is not 0 as long as a checkpoint is under way. */
  running: Int32Array
}

export interface Checkpoints {
  /** To be called after commits that were answered. */
  committed(): void
  /** Ends the thread; waits for a checkpoint that is under way. */
  close(): void
}

/**
 * @param database the connection that writes
 * @param warn told of checkpoints that fail
 */
export function prepareCheckpoints(
  database: Database,
  folder: string,
  warn: (message: string, error: unknown) => void,
  { many, full, few, most, more, some }: CheckpointSizes = SIZES,
): Checkpoints {
  const state = database.prepareTuples<[busy: number, log: number, done: number]>('PRAGMA wal_checkpoint(NOOP)')
  const running = new Int32Array(new SharedArrayBuffer(4))
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  /** Pages in the log when the last attempt was made to begin it anew. */
  let tried = 0

  function begin(): void {
    if (Atomics.load(running, 0) !== 0) return
    if (!thread) {
      const workerData: CheckpointData = { folder, running }
      thread = startThread(new URL('./checkpoint-thread.ts', import.meta.url), { workerData, name: 'checkpoints' })
      thread.on('message', ({ message }: { message: string }) => warn('A checkpoint failed', new Error(message)))
      thread.on('error', error => warn('The thread of checkpoints failed', error))
      thread.on('exit', () => {
        thread = undefined
        Atomics.store(running, 0, 0)
      })
      thread.unref()
    }
    Atomics.store(running, 0, 1)
    thread.postMessage('begin')
  }

  /** Brings over what is left, and has the log begin anew if nobody reads in it. */
  function catchUp(): void {
    if (Atomics.load(running, 0) !== 0) return
    try {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (error) {
      warn('A checkpoint failed', error)
    }
  }

  return {
    committed() {
      const [, log = 0, done = 0] = state.get() ?? []
      if (log < tried) tried = 0
      const isDue = log >= Math.max(full, tried + more)
      if (isDue && (log >= most || log - done <= few)) {
        Atomics.wait(running, 0, 1, PATIENCE)
        catchUp()
        tried = log
      } else if (log - done >= (isDue ? few : many)) begin()
      clearTimeout(idle)
      if (log >= some) idle = setTimeout(catchUp, IDLE).unref()
    },
    close() {
      clearTimeout(idle)
      thread?.ref()
      thread?.postMessage('end')
    },
  }
}
