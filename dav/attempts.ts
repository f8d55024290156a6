/** Slows down those who guess passwords: every failure makes the next attempt from there wait longer (DAV-3). */

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../pipeline/fault.ts'
import { networkOf } from '../pipeline/http/network.ts'

/** Addresses that one customer is given together count as one. */
export interface Attempts {
  /**
   * Waits as long as earlier failures of this address, alone and with this user, ask for.
   *
   * @throws Fault 503 when the address has too many attempts waiting already
   */
  wait(address: string, user: string): Promise<void>
  failed(address: string, user: string): void
  /** Forgets the failures with this user; those with others still count for the address. */
  succeeded(address: string, user: string): void
}

/** Failures that cost nothing: people mistype. */
const FREE = { user: 4, address: 24 }
/** Milliseconds: the wait doubles from the shortest to the longest. */
const SHORTEST = 250
const LONGEST = 8_000
/** Milliseconds after which a failure is forgotten. */
const FORGOTTEN = 15 * 60_000
const MOST_WAITING = 8
const MOST_COUNTED = 10_000
/** Characters by which users are told apart: what is longer is no name, and costs no more memory. */
const LONGEST_USER = 64

interface Failures {
  count: number
  last: number
}

/**
 * @param options.clock unix milliseconds
 * @param options.pause waits that many milliseconds
 */
export function createAttempts(
  options: { clock?: () => number; pause?: (milliseconds: number) => Promise<void> } = {},
): Attempts {
  const { clock = Date.now, pause = ms => sleep(ms, undefined, { ref: false }) } = options
  const counted = new Map<string, Failures>()
  const waiting = new Map<string, number>()

  const keyOf = (network: string, user: string) => `${network}\n${user.slice(0, LONGEST_USER)}`
  const keysOf = (network: string, user: string) => [
    { key: keyOf(network, user), free: FREE.user },
    { key: network, free: FREE.address },
  ]

  function delayOf(key: string, free: number): number {
    const failures = counted.get(key)
    if (!failures || failures.last + FORGOTTEN < clock() || failures.count < free) return 0
    return Math.min(SHORTEST * 2 ** (failures.count - free), LONGEST)
  }

  function count(key: string): void {
    const before = counted.get(key)
    const fresh = !before || before.last + FORGOTTEN < clock()
    counted.delete(key)
    counted.set(key, { count: fresh ? 1 : before.count + 1, last: clock() })
    if (counted.size <= MOST_COUNTED) return
    const [oldest] = counted.keys()
    if (oldest !== undefined) counted.delete(oldest)
  }

  return {
    async wait(address, user) {
      const network = networkOf(address)
      const delay = Math.max(...keysOf(network, user).map(({ key, free }) => delayOf(key, free)))
      if (delay === 0) return
      const others = waiting.get(network) ?? 0
      if (others >= MOST_WAITING)
        throw new Fault(503, 'Unavailable', 'Too many failed attempts to sign in. Try again later.', {
          headers: { 'Retry-After': String(Math.ceil(delay / 1000)) },
        })
      waiting.set(network, others + 1)
      try {
        await pause(delay)
      } finally {
        const left = (waiting.get(network) ?? 1) - 1
        if (left === 0) waiting.delete(network)
        else waiting.set(network, left)
      }
    },
    failed(address, user) {
      for (const { key } of keysOf(networkOf(address), user)) count(key)
    },
    succeeded(address, user) {
      counted.delete(keyOf(networkOf(address), user))
    },
  }
}
