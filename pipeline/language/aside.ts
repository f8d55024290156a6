/**
 * Work that cannot be divided, in a thread of its own: for its time nobody else would be answered. What is asked is done
 * one after the other, so that many questions leave processors to requests, and parties take turns.
 */

import type { Worker } from 'node:worker_threads'
import { startThread } from '../thread.ts'
import type { Allowance } from './allowance.ts'
import { Turns } from './turns.ts'

/** Milliseconds without work after which the thread ends. */
const IDLE = 30_000

/** What a thread says to each question. */
export type Reply<Answer> = { answer: Answer } | { error: string }

interface Waiting<Answer> {
  resolve(answer: Answer): void
  reject(error: Error): void
}

interface Thread<Answer> {
  worker: Worker
  /** In the order of the questions, which is that of the replies. */
  waiting: Waiting<Answer>[]
}

/**
 * @param name of the thread
 * @param module what runs in it: it gives a `Reply` to every message
 * @returns asks the thread for whoever has the allowance, and rejects as `Turns.take` does; the thread begins with the first question and ends when there were none for a while
 */
export function aside<Question, Answer>(
  name: string,
  module: URL,
): (question: Question, allowance: Allowance) => Promise<Answer> {
  const turns = new Turns()
  let thread: Thread<Answer> | undefined
  let ending: NodeJS.Timeout | undefined

  const open = (): Thread<Answer> => {
    const worker = startThread(module, { name })
    const waiting: Waiting<Answer>[] = []
    const own = { worker, waiting }
    worker.on('message', (reply: Reply<Answer>) => {
      const asked = waiting.shift()
      if ('answer' in reply) asked?.resolve(reply.answer)
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
      for (const { reject } of waiting) reject(new Error(`The thread of ${name} ended`, { cause }))
    })
    return own
  }

  const ask = (question: Question): Promise<Answer> =>
    new Promise((resolve, reject) => {
      clearTimeout(ending)
      const { worker, waiting } = (thread ??= open())
      waiting.push({ resolve, reject })
      worker.ref()
      worker.postMessage(question)
    })
  return (question, allowance) =>
    turns.take(
      allowance.party,
      () => ask(question),
      () => allowance.look(),
    )
}

/** What `answer` gives or throws, as a `Reply`. */
export function replyOf<Answer>(answer: () => Answer): Reply<Answer> {
  try {
    return { answer: answer() }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
