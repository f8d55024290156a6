/**
 * Addresses of the hosts that are called: each name is asked for once at a time, all of them leave room for others, and those
 * of one site for those of the others.
 */

import { lookup } from 'node:dns/promises'

export type Addresses = readonly { address: string; family: number }[]

/**
 * All addresses of a host name.
 *
 * @param until whoever asks waits no longer than that
 * @param site for whose call it is
 */
export type Resolve = (host: string, until?: AbortSignal, site?: string) => Promise<Addresses>

interface Asked {
  host: string
  answer: PromiseWithResolvers<Addresses>
  waiting: (AbortSignal | undefined)[]
  /** Sites in whose lines it is, or was. */
  sites: Set<string>
  isBegun: boolean
}

/**
 * Whoever asks while the same name is being asked for gets that answer. A name for which nobody waits any more when its turn
 * comes is not asked for. Sites have their turns, each its names in the order in which they came.
 *
 * @param most names that are asked for at a time
 * @param mostOfSite of them for one site, whose names may all be such that nobody answers for
 */
export function askingOnce(
  resolve: (host: string) => Promise<Addresses>,
  most = Number.POSITIVE_INFINITY,
  mostOfSite = most,
): Resolve {
  const known = new Map<string, Asked>()
  /** Names that wait, by site; the site whose turn is next comes first. */
  const lines = new Map<string, Asked[]>()
  const running = new Map<string, number>()
  let total = 0

  async function ask({ host, answer }: Asked, site: string): Promise<void> {
    count(site, 1)
    try {
      answer.resolve(await resolve(host))
    } catch (error) {
      answer.reject(error)
    }
    known.delete(host)
    count(site, -1)
    next()
  }

  function count(site: string, more: number): void {
    total += more
    const of = (running.get(site) ?? 0) + more
    if (of > 0) running.set(site, of)
    else running.delete(site)
  }

  function next(): void {
    for (const [site, line] of lines) {
      if (total >= most) return
      if ((running.get(site) ?? 0) >= mostOfSite) continue
      // Behind all others, if it has more.
      lines.delete(site)
      const first = firstOf(line)
      if (line.length > 0) lines.set(site, line)
      if (!first) continue
      first.isBegun = true
      void ask(first, site)
    }
  }

  function firstOf(line: Asked[]): Asked | undefined {
    for (let first = line.shift(); first; first = line.shift()) {
      if (first.isBegun) continue
      if (!first.waiting.every(until => until?.aborted)) return first
      if (known.get(first.host) === first) known.delete(first.host)
    }
    return undefined
  }

  return (host, until, site = '') => {
    const asked = known.get(host) ?? newlyAsked(host)
    known.set(host, asked)
    asked.waiting.push(until)
    // Its turn may come first in whichever line it is.
    if (!asked.isBegun && !asked.sites.has(site)) {
      asked.sites.add(site)
      const line = lines.get(site)
      if (line) line.push(asked)
      else lines.set(site, [asked])
      next()
    }
    return asked.answer.promise
  }
}

function newlyAsked(host: string): Asked {
  return { host, answer: Promise.withResolvers(), waiting: [], sites: new Set(), isBegun: false }
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

/** One of them stays free for the other sites. */
const most = mostByTheSystem()

export const byTheSystem = askingOnce(host => lookup(host, { all: true, verbatim: true }), most, Math.max(1, most - 1))
