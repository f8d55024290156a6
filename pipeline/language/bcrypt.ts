/**
 * bcrypt in a thread of its own: the package computes in slices of a tenth of a second, for which nobody else would be
 * answered. Hashes are made one after the other, so that many of them leave processors to requests.
 */

import { Worker } from 'node:worker_threads'
import type { BcryptQuestion, BcryptReply } from './bcrypt-thread.ts'

/** Milliseconds without work after which the thread ends. */
const IDLE = 30_000

interface Waiting {
  resolve(hash: string): void
  reject(error: Error): void
}

interface Thread {
  worker: Worker
  /** In the order of the questions, which is that of the answers. */
  waiting: Waiting[]
}

let thread: Thread | undefined
let ending: NodeJS.Timeout | undefined

/**
 * @param cost logarithm of the rounds, 4 to 31; who asks sees to it that the work has an end
 * @returns `$2b$…`, with a fresh salt
 */
export function bcrypt(text: string, cost: number): Promise<string> {
  return new Promise((resolve, reject) => {
    clearTimeout(ending)
    const { worker, waiting } = (thread ??= open())
    waiting.push({ resolve, reject })
    worker.ref()
    worker.postMessage({ text, cost } satisfies BcryptQuestion)
  })
}

function open(): Thread {
  const worker = new Worker(new URL('./bcrypt-thread.ts', import.meta.url), {
    name: 'bcrypt',
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  })
  const waiting: Waiting[] = []
  const own = { worker, waiting }
  worker.on('message', (reply: BcryptReply) => {
    const asked = waiting.shift()
    if ('hash' in reply) asked?.resolve(reply.hash)
    else asked?.reject(new Error(reply.error))
    if (waiting.length > 0) return
    worker.unref()
    ending = setTimeout(() => {
      thread = undefined
      worker.terminate()
    }, IDLE).unref()
  })
  let cause: unknown
  worker.on('error', error => {
    cause = error
  })
  worker.on('exit', () => {
    if (thread === own) thread = undefined
    for (const { reject } of waiting) reject(new Error('The thread of bcrypt ended', { cause }))
  })
  return own
}
