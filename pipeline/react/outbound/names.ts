/** Addresses of the hosts that are called: each name is asked for once at a time, and all of them leave room for others. */

import { lookup } from 'node:dns/promises'

export type Addresses = readonly { address: string; family: number }[]

/** All addresses of a host name. @param until whoever asks waits no longer than that */
export type Resolve = (host: string, until?: AbortSignal) => Promise<Addresses>

interface Asked {
  host: string
  answer: PromiseWithResolvers<Addresses>
  waiting: (AbortSignal | undefined)[]
}

/**
 * Whoever asks while the same name is being asked for gets that answer. A name for which nobody waits any more when its turn
 * comes is not asked for.
 *
 * @param most names that are asked for at a time
 */
export function askingOnce(resolve: Resolve, most = Number.POSITIVE_INFINITY): Resolve {
  const known = new Map<string, Asked>()
  const line: Asked[] = []
  let running = 0

  async function ask({ host, answer }: Asked): Promise<void> {
    running++
    try {
      answer.resolve(await resolve(host))
    } catch (error) {
      answer.reject(error)
    }
    known.delete(host)
    running--
    next()
  }

  function next(): void {
    while (running < most) {
      const first = line.shift()
      if (!first) return
      if (first.waiting.every(until => until?.aborted)) known.delete(first.host)
      else void ask(first)
    }
  }

  return (host, until) => {
    const same = known.get(host)
    const asked = same ?? { host, answer: Promise.withResolvers<Addresses>(), waiting: [] }
    asked.waiting.push(until)
    if (!same) {
      known.set(host, asked)
      line.push(asked)
      next()
    }
    return asked.answer.promise
  }
}

/** Threads of the process that others than V8 work in, where its environment says nothing. */
const THREADS = 4

/**
 * In half of its threads the system asks for names, for the whole process. One of these stays free: names whose servers say
 * nothing would keep it from its database and its Redis, once a connection to them is lost.
 */
function mostByTheSystem(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || THREADS
  return Math.max(1, Math.floor((threads + 1) / 2) - 1)
}

export const byTheSystem = askingOnce(host => lookup(host, { all: true, verbatim: true }), mostByTheSystem())
