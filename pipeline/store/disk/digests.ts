/** The main thread's side of the thread that hashes large bodies; started with the first of them. */

import { Worker } from 'node:worker_threads'
import { StoreError } from '../errors.ts'
import type { DigestMessage, DigestReply } from './digest-thread.ts'

/** SHA-1 and MD5 of one body, fed block by block. */
export interface Digesting {
  /** Resolves when the block may be overwritten. */
  update(block: SharedArrayBuffer, length: number): Promise<void>
  finish(): Promise<{ sha1: string; md5: string }>
  abort(): void
}

export interface DigestThread {
  start(): Digesting
  close(): Promise<void>
}

interface Waiting {
  resolve(reply: DigestReply): void
  reject(error: Error): void
}

export function createDigestThread(): DigestThread {
  let thread: Worker | undefined
  let lastBody = 0
  /** Answers that are still to come; while there are some, the thread keeps the process alive. */
  let asked = 0
  /** Who waits for the thread, by body, in the order of the messages. */
  const waiting = new Map<number, Waiting[]>()

  function open(): Worker {
    const worker = new Worker(new URL('./digest-thread.ts', import.meta.url), {
      name: 'store digests',
      // It holds two hashes a body; a large young generation would only be kept memory.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
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

  return {
    start() {
      const body = ++lastBody
      return {
        async update(block, length) {
          await ask({ body, block, length })
        },
        async finish() {
          const reply = await ask({ body, finish: true })
          waiting.delete(body)
          if ('free' in reply) throw new StoreError('failed', 'The hashing thread lost a body')
          return { sha1: reply.sha1, md5: reply.md5 }
        },
        abort() {
          waiting.delete(body)
          thread?.postMessage({ body, abort: true } satisfies DigestMessage)
        },
      }
    },
    async close() {
      await thread?.terminate()
    },
  }
}
