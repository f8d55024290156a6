/**
 * Room for connections. The system gives a process so many descriptors; files, threads and databases need some of them. Where
 * none is left, it closes what comes without a word: so a part is kept free, and who comes beyond it is answered.
 */

import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

export interface ConnectionRoom {
  /**
   * Counts a connection until it is closed, and closes others where there is no room.
   *
   * @param secure it speaks TLS, and cannot be answered before both ends have agreed on keys
   * @returns false where nobody can wait for its first request
   */
  take(socket: Socket, secure: boolean): boolean
  /** Connections that found no room when they came, by name. */
  readonly waiting: { readonly size: number }
  /** Whether the next request of a connection is to be answered by what it asks for; always while nobody waits. */
  mayAsk(socket: Socket): boolean
  /** Whether what comes from an address may be of many clients. */
  isProxy(address: string): boolean
  /** Whether there is room for one more. */
  hasRoom(): boolean
  /** Whether there is room for one more file; closes connections where there is hardly any. */
  mayOpen(): boolean
  /** Connections that were turned away since the start. */
  readonly refused: Readonly<Refused>
  /**
   * Has a function called that closes connections, as long as there is no room.
   *
   * @param close is told how many are too many: all that are idle go, and so many of those that ask nothing or take nothing of
   *   their answers; and how many of a crowd may go as well, so that the next who comes finds room at once
   */
  onFull(close: (most: number, ofCrowd: number) => void): void
}

/** Connections that found no room, by what their clients came to know. */
export interface Refused {
  /** Told so, by 503. */
  answered: number
  /** Closed without a word: over TLS where nobody can wait any more, or without a request in time. */
  closed: number
}

export interface RoomOptions {
  /** Connections whose requests are answered. */
  most: number
  /** Connections beyond them that may wait for room, and are told if there is none. */
  spare: number
  /** Told now and then of connections that find no room. */
  full: (connections: number, refused: Readonly<Refused>) => void
  /** Descriptors that running requests take beside their connections. */
  beside?: { readonly count: number }
  /** Addresses from which many clients come; none by default. */
  isProxy?: (address: string) => boolean
  /** Milliseconds; the system's by default. */
  now?: () => number
}

/** Milliseconds that a connection without room has for its first request. */
const PATIENCE = 2000

/** Milliseconds between two times that connections are closed, with and without somebody who needs room, and between two words of it. */
const [SWEEP, LOOK, WORD] = [5, 5000, 10_000]

/** @returns how many descriptors this process may have, and has; undefined where the system does not tell */
export function descriptors(): { limit: number; used: number } | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? undefined : { limit: Number(limit), used: readdirSync('/proc/self/fd').length }
  } catch {
    return undefined
  }
}

/**
 * @param found descriptors when all that stays open is open
 * @returns how they are shared out: a quarter of what is left stays free for files and other services
 */
export function sharedOut({ limit, used }: { limit: number; used: number }): Pick<RoomOptions, 'most' | 'spare'> {
  const free = Math.max(limit - used, 0)
  const kept = Math.max(16, Math.floor(free / 4))
  return { most: Math.max(free - kept, 4), spare: Math.floor(kept / 2) }
}

/** The same on both ends of a connection's TLS. */
export const nameOf = ({ remoteAddress, remotePort, localPort }: Socket) =>
  `${remoteAddress} ${remotePort} ${localPort}`

export function connectionRoom(options: RoomOptions): ConnectionRoom {
  const { most, spare, full, beside = { count: 0 }, isProxy = () => false, now = () => performance.now() } = options
  const sweeps: ((most: number, ofCrowd: number) => void)[] = []
  const ahead = Math.ceil(spare / 2)
  /** Those that found no room when they came, with the end of their patience. */
  const waiting = new Map<string, NodeJS.Timeout>()
  const refused: Refused = { answered: 0, closed: 0 }
  let count = 0
  const taken = () => count + beside.count
  let swept = Number.NEGATIVE_INFINITY
  let told = Number.NEGATIVE_INFINITY
  let looking: NodeJS.Timeout | undefined

  function sweep(least: number): void {
    const excess = Math.max(least, taken() - most)
    for (const close of sweeps) close(excess, taken() > most ? excess + ahead : 0)
  }

  function makeRoom(): void {
    if (now() - swept < SWEEP) return
    swept = now()
    sweep(1)
    looking ??= setInterval(lookAgain, LOOK).unref()
  }

  /** Who takes nothing of an answer is known by looking again and again. */
  function lookAgain(): void {
    if (taken() >= most) sweep(0)
    else {
      clearInterval(looking)
      looking = undefined
    }
  }

  function refuse(how: keyof Refused): void {
    refused[how]++
    if (now() - told < WORD) return
    told = now()
    full(count, refused)
  }

  return {
    waiting,
    refused,
    isProxy,
    hasRoom: () => taken() < most,
    mayOpen() {
      if (taken() >= most) makeRoom()
      return taken() < most + spare
    },
    onFull: close => void sweeps.push(close),
    take(socket, secure) {
      count++
      socket.once('close', () => count--)
      if (taken() <= most) return true
      makeRoom()
      if (taken() > most + spare) {
        refuse(secure ? 'closed' : 'answered')
        return false
      }
      const name = nameOf(socket)
      const giveUp = () => {
        refuse('closed')
        socket.destroy()
      }
      const timer = setTimeout(giveUp, PATIENCE).unref()
      waiting.set(name, timer)
      socket.once('close', () => {
        clearTimeout(timer)
        waiting.delete(name)
      })
      return true
    },
    mayAsk(socket) {
      const name = nameOf(socket)
      const timer = waiting.get(name)
      if (timer === undefined) return true
      if (taken() > most) {
        refuse('answered')
        return false
      }
      // Others have gone meanwhile.
      clearTimeout(timer)
      waiting.delete(name)
      return true
    },
  }
}

/** Room without a bound, where the system tells of none. */
export const ENDLESS: ConnectionRoom = {
  waiting: { size: 0 },
  refused: { answered: 0, closed: 0 },
  take: () => true,
  mayAsk: () => true,
  isProxy: () => false,
  hasRoom: () => true,
  mayOpen: () => true,
  onFull: () => undefined,
}
