/**
 * The main thread's side of the writing thread: jobs of one turn of the event loop travel in one message, answers are
 * taken whenever there is another job, each caller gets a promise, and a thread that dies takes nobody's promise with it.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import { startThread } from '../../../thread.ts'
import type { CommitResult, Guard } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import type {
  BodyPlace,
  ReadBody,
  WriterData,
  WriterJob,
  WriterMessage,
  WriterReply,
  WriterSettings,
} from './messages.ts'

/** A job without number; contents are still where the caller has them. */
export type NewJob = {
  [Task in WriterJob['task']]: Omit<Extract<WriterJob, { task: Task }>, 'id'>
}[WriterJob['task']]

/** Bytes that have to travel with a job, and the content that will say where they are. */
export interface Cargo {
  bytes: Uint8Array
  content: { offset: number }
}

export interface Writer {
  /**
   * @param order the job; it must not be changed any more
   * @param cargo bytes of its contents, copied from the end of this turn of the event loop on
   * @throws StoreError when the job could not be done or nobody knows whether it was
   */
  submit(job: NewJob, cargo: Cargo[]): Promise<CommitResult | undefined>
  /**
   * Reads a body in the thread: a large one would keep the caller from everything else.
   *
   * @throws StoreError when it could not be read
   */
  read(place: BodyPlace): Promise<ReadBody>
  /** Ends the thread until there is work for it again. */
  relax(): void
  /** Lets time pass in the thread: old events and files go away without traffic too. */
  housekeeping(now: number): void
  /** Finishes what was submitted and ends the thread. */
  close(): Promise<void>
}

export type Log = (level: 'info' | 'warn' | 'error', message: string, details: Record<string, unknown>) => void

/** Starts of the thread in a row that may fail before no other is tried for a while. */
const ATTEMPTS = 3

/** Milliseconds that this takes: a machine that is short of files or memory may have some again. */
const PAUSE = 1000

interface Waiting<Result> {
  resolve(result: Result): void
  reject(error: Error): void
}

/** Threads that wait for a store at most. */
const FREE = 4

/** Bytes of contents that are copied in one turn of the event loop. */
const COPIED = 4 * 1024 * 1024

/** Lists of keys in guards that are copied in one turn of the event loop: one write may need hundreds of thousands. */
const GUARDED = 2_000

function guardsOf(job: WriterJob): readonly Guard[] {
  return (job.task === 'commit' && job.commit.guards) || []
}

/** A reference asks for its value in each of the types that it may be of. */
const guardedBy = (job: WriterJob): number => guardsOf(job).reduce((sum, { any }) => sum + any.length, 0)

function placed(loaded: readonly Cargo[], packed: Uint8Array): { bytes: Uint8Array; target: Uint8Array }[] {
  let offset = 0
  return loaded.map(({ bytes, content }) => {
    content.offset = offset
    offset += bytes.length
    return { bytes, target: packed.subarray(content.offset, offset) }
  })
}

/** Puts all contents into one buffer that changes hands with the message. */
function pack(loaded: readonly Cargo[], size: number): ArrayBuffer {
  const packed = Buffer.allocUnsafeSlow(size)
  for (const { bytes, target } of placed(loaded, packed)) target.set(bytes)
  return packed.buffer
}

/** The same over several turns of the event loop. */
async function packSlowly(loaded: readonly Cargo[], size: number): Promise<ArrayBuffer> {
  const packed = Buffer.allocUnsafeSlow(size)
  let copied = 0
  for (const { bytes, target } of placed(loaded, packed))
    for (let at = 0; at < bytes.length; at += COPIED) {
      const piece = bytes.subarray(at, at + COPIED)
      if (copied + piece.length > COPIED) {
        await turn()
        copied = 0
      }
      target.set(piece, at)
      copied += piece.length
    }
  return packed.buffer
}

/**
 * Makes a writer whose thread the first job starts, or a search for files without a row: a server that is only read does
 * without its memory.
 *
 * @param isOverdue tells whether something waits to be cleaned up, at a time in unix milliseconds
 * @param free threads that closed stores have left: one of them is taken, and left there again; without it, threads end
 */
export function startWriter(
  data: WriterSettings,
  log: Log,
  isOverdue: (now: number) => boolean,
  free?: Worker[],
): Writer {
  const waiting = new Map<number, Waiting<CommitResult | undefined>>()
  const reading = new Map<number, Waiting<ReadBody>>()
  let outgoing: WriterJob[] = []
  let cargo: Cargo[] = []
  let lastId = 0
  let failures = 0
  /** When the last thread failed, by the clock of `performance`. */
  let failed = 0
  let closing: Promise<void> | undefined
  /** Contents are on their way into one buffer. */
  let packing: Promise<void> | undefined
  let worker: Worker | undefined
  let replies: MessagePort | undefined
  /** As in `WriterData`. */
  const replied = new Int32Array(new SharedArrayBuffer(4))
  /** Threads that were told to end. */
  const leaving = new Set<Worker>()
  /** Leaves the thread to another store, and tells whoever waits for its end. */
  let release: (() => void) | undefined
  let parted = () => {}
  let { search } = data
  /** The thread searches for files without a row. */
  let isSearching = false
  /** The thread has begun to clean up, and has had no other work. */
  let isCleaning = false

  /** Fails everybody who waits, and takes back what has not been sent. */
  function failAll(error: Error): void {
    const lost = [...waiting.values(), ...reading.values()]
    waiting.clear()
    reading.clear()
    outgoing = []
    cargo = []
    for (const { reject } of lost) reject(error)
  }

  function receive(reply: WriterReply): void {
    if ('log' in reply) {
      log(reply.log.level, reply.log.message, reply.log.details)
      return
    }
    failures = 0
    if ('free' in reply) {
      release?.()
      return
    }
    if ('searched' in reply) {
      isSearching = false
      return
    }
    if ('read' in reply) {
      const reader = reading.get(reply.read)
      reading.delete(reply.read)
      if ('error' in reply) reader?.reject(new StoreError('failed', reply.error))
      else reader?.resolve(reply.body)
      rest()
      return
    }
    for (const answer of reply.answers) {
      const caller = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('error' in answer) caller?.reject(new StoreError(answer.error.reason, answer.error.message))
      else caller?.resolve(answer.result)
    }
    rest()
  }

  function takeAll(port: MessagePort): void {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      receive(next.message)
  }

  /**
   * Takes what the thread has answered since this turn of the event loop began. Whoever waits for it would otherwise wait
   * for all other requests of the turn as well: half as long again as the commit.
   */
  function takeReplies(): void {
    if (replies !== undefined && Atomics.exchange(replied, 0, 0) === 1) takeAll(replies)
  }

  /** Nobody waits for the thread any more, unless it is for its end. */
  function rest(): void {
    if (waiting.size === 0 && reading.size === 0 && closing === undefined) worker?.unref()
  }

  function start(): Worker {
    const { port1, port2 } = new MessageChannel()
    const thread = free?.pop() ?? startThread(new URL('./writer-thread.ts', import.meta.url), { name: 'store writer' })
    thread.postMessage({ serve: { ...data, search, replies: port2, replied } satisfies WriterData }, [port2])
    replies = port1
    isSearching = search
    search = false
    let reason = 'The writing thread ended'
    port1.on('message', receive)
    // What keeps the process is the thread, while it has something to do.
    port1.unref()
    thread.on('error', error => {
      reason = `The writing thread failed: ${error instanceof Error ? error.message : String(error)}`
    })
    thread.on('exit', () => {
      takeAll(port1)
      port1.close()
      if (leaving.delete(thread)) return
      worker = undefined
      isSearching = false
      if (closing !== undefined && waiting.size === 0 && reading.size === 0) return
      failures++
      failed = performance.now()
      log('error', reason, { failures, waiting: waiting.size + reading.size })
      failAll(new StoreError('failed', `${reason}; whether the change was stored is unknown`))
    })
    thread.unref()
    release = () => {
      thread.removeAllListeners('error').removeAllListeners('exit').unref()
      thread.once('exit', () => free?.splice(0, free.length, ...free.filter(other => other !== thread)))
      port1.close()
      worker = undefined
      free?.push(thread)
      parted()
    }
    return thread
  }

  /** The thread, which has something to do now. */
  function busy(): Worker {
    worker ??= start()
    isCleaning = false
    worker.ref()
    return worker
  }

  function send(jobs: WriterJob[], bytes: ArrayBuffer): void {
    busy().postMessage({ jobs, bytes } satisfies WriterMessage, [bytes])
  }

  /** Whether a thread would fail like those before. */
  function givesUp(): boolean {
    return worker === undefined && failures >= ATTEMPTS && performance.now() - failed < PAUSE
  }

  /** Not even sent: out of memory, or a value that cannot be sent. */
  function failUnsent(jobs: readonly WriterJob[], error: unknown): void {
    for (const { id } of jobs) {
      waiting.get(id)?.reject(error instanceof Error ? error : new Error(String(error)))
      waiting.delete(id)
    }
    rest()
  }

  /** Sends guards ahead of their jobs where there are many. @returns what is left of the jobs to send */
  async function sendGuards(jobs: readonly WriterJob[]): Promise<WriterJob[]> {
    const left: WriterJob[] = []
    let [room, copied] = [GUARDED, 0]
    for (const job of jobs) {
      const guards = guardsOf(job)
      room -= guardedBy(job)
      if (job.task !== 'commit' || guards.length === 0 || room >= 0) {
        left.push(job)
        continue
      }
      for (let from = 0, to = 0; from < guards.length && waiting.has(job.id); from = to) {
        while (to < guards.length && copied < GUARDED) copied += guards[to++]?.any.length ?? 0
        busy().postMessage({ guards: guards.slice(from, to), job: job.id } satisfies WriterMessage)
        if (copied >= GUARDED) copied = await turn(0)
      }
      left.push({ ...job, commit: { ...job.commit, guards: [] }, sent: guards.length })
    }
    // The jobs themselves may hold as many as are copied in one turn.
    if (copied > 0) await turn()
    return left
  }

  /** Sends what takes several turns of the event loop to copy. What is submitted meanwhile goes after it. */
  async function sendSlowly(jobs: WriterJob[], loaded: readonly Cargo[], size: number): Promise<void> {
    try {
      const bytes = await packSlowly(loaded, size)
      const sent = await sendGuards(jobs)
      // A thread that ended meanwhile has failed them all.
      const wanted = sent.filter(({ id }) => waiting.has(id))
      if (wanted.length > 0) send(wanted, bytes)
    } catch (error) {
      failUnsent(jobs, error)
    }
    packing = undefined
    flush()
  }

  function flush(): void {
    if (outgoing.length === 0 || packing !== undefined) return
    if (givesUp()) {
      failAll(new StoreError('failed', 'The writing thread cannot be started'))
      return
    }
    const [jobs, loaded] = [outgoing, cargo]
    outgoing = []
    cargo = []
    const size = loaded.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (size > COPIED || jobs.reduce((sum, job) => sum + guardedBy(job), 0) > GUARDED) {
      packing = sendSlowly(jobs, loaded, size)
      return
    }
    try {
      send(jobs, pack(loaded, size))
    } catch (error) {
      failUnsent(jobs, error)
    }
  }

  /** Ends the thread unless it has something to do. What comes meanwhile begins another one. */
  function dismiss(): void {
    if (worker === undefined || isSearching || waiting.size > 0 || reading.size > 0 || closing !== undefined) return
    leaving.add(worker)
    worker.postMessage({ close: true } satisfies WriterMessage)
    worker = undefined
  }

  async function end(): Promise<void> {
    for (flush(); packing !== undefined; ) await packing
    const stays = free !== undefined && free.length < FREE
    worker?.postMessage({ close: true, stays } satisfies WriterMessage)
    const gone = [...leaving, ...(worker ? [worker] : [])].map(thread => {
      thread.ref()
      return new Promise<void>(ended => {
        thread.once('exit', ended)
        parted = ended
      })
    })
    await Promise.all(gone)
  }

  if (search) {
    worker = start()
    isCleaning = true
  }

  return {
    submit(order, added) {
      if (closing !== undefined) return Promise.reject(new StoreError('closed', 'The store is closed'))
      return new Promise((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        takeReplies()
        if (outgoing.push({ ...order, id }) === 1) setImmediate(flush)
        cargo.push(...added)
      })
    },
    read(place) {
      if (closing !== undefined) return Promise.reject(new StoreError('closed', 'The store is closed'))
      if (givesUp()) return Promise.reject(new StoreError('failed', 'The writing thread cannot be started'))
      return new Promise((resolve, reject) => {
        const id = ++lastId
        reading.set(id, { resolve, reject })
        busy().postMessage({ read: place, id } satisfies WriterMessage)
      })
    },
    relax: dismiss,
    housekeeping(now) {
      if (worker === undefined && closing === undefined && !givesUp() && isOverdue(now)) {
        worker = start()
        isCleaning = true
      } else if (isCleaning && !isOverdue(now)) dismiss()
      worker?.postMessage({ housekeeping: now } satisfies WriterMessage)
    },
    close() {
      closing ??= end()
      return closing
    },
  }
}
