/** The main thread's side of the threads that hash large bodies, one for each digest; started with the first of them. */

import type { Worker } from 'node:worker_threads'
import { startThread } from '../../thread.ts'
import { StoreError } from '../errors.ts'
import type { DigestMessage, DigestReply, WeakDigest } from './digest-thread.ts'

/** Digests of one body, fed block by block. */
interface Feeding<Digest> {
  /** Resolves when the block may be overwritten. */
  update(block: SharedArrayBuffer, length: number): Promise<void>
  finish(): Promise<Digest>
  abort(): void
}

/** SHA-1 and MD5 of one body, in lower-case hexadecimal. */
export interface WeakDigests {
  sha1: string
  md5: string
}

export type Digesting = Feeding<WeakDigests>

/** The SHA-256 of one body, in lower-case hexadecimal, read from the file that it goes to. */
export interface Following extends Pick<Feeding<string>, 'finish' | 'abort'> {
  /** Tells up to where the file has been written; nobody waits until it is read. */
  reach(bytes: number): void
}

interface Thread<Digest> {
  start(): Feeding<Digest>
  /** Ends the thread if no body is on its way; the next one starts it again. */
  relax(): void
  close(): Promise<void>
}

interface DigestThread extends Thread<string> {
  follow(file: string): Following
  /** @returns the digests of a file, in the order of their algorithms; undefined where it cannot be read */
  ofFile(file: string, algorithms: readonly WeakDigest[]): Promise<readonly string[] | undefined>
}

export interface DigestThreads extends Thread<WeakDigests> {
  /** Follows a file that is being written; may begin when part of it is there. */
  follow(file: string): Following
  /**
   * Reads a file beside whatever arrives.
   *
   * @param hurry somebody waits: both digests beside each other, which takes the memory of two threads
   * @returns undefined where it cannot be read
   */
  ofFile(file: string, hurry: boolean): Promise<WeakDigests | undefined>
}

/** Both digests beside each other: a body takes as long as the slower of them. */
export function createDigestThreads(): DigestThreads {
  const threads = { sha1: createDigestThread('sha1'), md5: createDigestThread('md5') }
  return {
    start() {
      const [sha1, md5] = [threads.sha1.start(), threads.md5.start()]
      return {
        async update(block, length) {
          await Promise.all([sha1.update(block, length), md5.update(block, length)])
        },
        async finish() {
          const [first, second] = await Promise.all([sha1.finish(), md5.finish()])
          return { sha1: first, md5: second }
        },
        abort() {
          sha1.abort()
          md5.abort()
        },
      }
    },
    follow: threads.sha1.follow,
    async ofFile(file, hurry) {
      const parts = hurry
        ? await Promise.all([threads.sha1.ofFile(file, ['sha1']), threads.md5.ofFile(file, ['md5'])])
        : [await threads.sha1.ofFile(file, ['sha1', 'md5'])]
      const [sha1, md5] = parts.flatMap(digests => digests ?? [])
      return sha1 === undefined || md5 === undefined ? undefined : { sha1, md5 }
    },
    relax() {
      threads.sha1.relax()
      threads.md5.relax()
    },
    async close() {
      await Promise.all([threads.sha1.close(), threads.md5.close()])
    },
  }
}

interface Waiting {
  resolve(reply: DigestReply): void
  reject(error: Error): void
}

function createDigestThread(algorithm: WeakDigest): DigestThread {
  let thread: Worker | undefined
  let lastBody = 0
  /** Those that are on their way; a thread that ends takes with it what it knew of them. */
  const bodies = new Set<number>()
  /** Answers that are still to come; while there are some, the thread keeps the process alive. */
  let asked = 0
  /** Who waits for the thread, by body, in the order of the messages. */
  const waiting = new Map<number, Waiting[]>()

  function open(): Worker {
    const worker = startThread(new URL('./digest-thread.ts', import.meta.url), {
      name: `store ${algorithm}`,
      workerData: algorithm,
    })
    worker.on('message', (reply: DigestReply) => {
      waiting.get(reply.body)?.shift()?.resolve(reply)
      if (--asked === 0) worker.unref()
    })
    let cause: unknown
    worker.on('error', error => {
      cause = error
    })
    worker.on('exit', () => {
      if (thread === worker) thread = undefined
      const lost = [...waiting.values()].flat()
      waiting.clear()
      bodies.clear()
      asked = 0
      for (const { reject } of lost) reject(new StoreError('failed', 'The hashing thread ended', { cause }))
    })
    worker.unref()
    return worker
  }

  function ask(message: DigestMessage): Promise<DigestReply> {
    return new Promise((resolve, reject) => {
      const queue = waiting.get(message.body) ?? []
      queue.push({ resolve, reject })
      waiting.set(message.body, queue)
      thread ??= open()
      if (asked++ === 0) thread.ref()
      thread.postMessage(message)
    })
  }

  /** A body of which nobody waits for each piece. */
  function tell(message: DigestMessage): void {
    thread ??= open()
    thread.postMessage(message)
  }

  /** Another thread would take the rest of a body for all of it. @throws StoreError */
  function requireKnown(body: number): void {
    if (!bodies.has(body)) throw new StoreError('failed', 'The hashing thread lost a body')
  }

  async function finish(body: number): Promise<string> {
    requireKnown(body)
    const reply = await ask({ body, finish: true })
    waiting.delete(body)
    bodies.delete(body)
    const [digest] = 'free' in reply ? [] : (reply.digests ?? [])
    if (digest === undefined) throw new StoreError('failed', 'The hashing thread lost a body')
    return digest
  }

  function abort(body: number): void {
    waiting.delete(body)
    bodies.delete(body)
    thread?.postMessage({ body, abort: true } satisfies DigestMessage)
  }

  function begin(): number {
    bodies.add(++lastBody)
    return lastBody
  }

  return {
    start() {
      const body = begin()
      return {
        async update(block, length) {
          requireKnown(body)
          await ask({ body, block, length })
        },
        finish: () => finish(body),
        abort: () => abort(body),
      }
    },
    follow(file) {
      const body = begin()
      tell({ body, follow: file })
      return {
        reach: bytes => tell({ body, until: bytes }),
        finish: () => finish(body),
        abort: () => abort(body),
      }
    },
    async ofFile(file, algorithms) {
      const body = ++lastBody
      const reply = await ask({ body, file, algorithms })
      waiting.delete(body)
      return 'free' in reply ? undefined : reply.digests
    },
    relax() {
      if (bodies.size > 0 || asked > 0 || !thread) return
      // Its end is nobody's loss: whatever comes next has another thread.
      thread.removeAllListeners('exit')
      void thread.terminate()
      thread = undefined
    },
    async close() {
      await thread?.terminate()
    },
  }
}
