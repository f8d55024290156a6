/** Slows down those who guess passwords: every failure makes the next attempt from there wait longer (DAV-3). */

import { setTimeout as sleep } from 'node:timers/promises'
import type { RateLimits } from '../../pipeline/coordination/rate-limits.ts'
import { Fault } from '../../pipeline/fault.ts'
import { networkOf } from '../../pipeline/http/network.ts'

/** Addresses that one customer is given together count as one. */
export interface LoginThrottle {
  /**
   * Waits as long as earlier failures of this address, alone and with this user, ask for.
   *
   * @throws Fault 503 when the address has too many attempts waiting already
   */
  wait(address: string, user: string): Promise<void>
  failed(address: string, user: string): Promise<void>
  /** Forgets the failures with this user; those with others still count for the address. */
  succeeded(address: string, user: string): Promise<void>
}

/** Failures that cost nothing: people mistype. */
const FREE = { user: 4, address: 24 }
/** Milliseconds: the wait doubles from the shortest to the longest. */
const SHORTEST = 250
const LONGEST = 8_000
/** Milliseconds after which a failure is forgotten. */
const FORGOTTEN = 15 * 60_000
const MOST_WAITING = 8
/** Characters by which users are told apart: what is longer is no name, and costs no more memory. */
const LONGEST_USER = 64

/**
 * @param options.rateLimits keep the failures
 * @param options.pause waits that many milliseconds
 */
export function createLoginThrottle(options: {
  rateLimits: RateLimits
  pause?: (milliseconds: number) => Promise<void>
}): LoginThrottle {
  const { rateLimits, pause = ms => sleep(ms, undefined, { ref: false }) } = options
  const waiting = new Map<string, number>()

  const ofUser = (network: string, user: string) => `password ${network}\n${user.slice(0, LONGEST_USER)}`
  const ofNetwork = (network: string) => `password ${network}`

  const delayAfter = (failures: number, free: number): number =>
    failures < free ? 0 : Math.min(SHORTEST * 2 ** (failures - free), LONGEST)

  return {
    async wait(address, user) {
      const network = networkOf(address)
      const [one = 0, all = 0] = await rateLimits.counts([ofUser(network, user), ofNetwork(network)])
      const delay = Math.max(delayAfter(one, FREE.user), delayAfter(all, FREE.address))
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
      const network = networkOf(address)
      return rateLimits.add([ofUser(network, user), ofNetwork(network)], FORGOTTEN)
    },
    succeeded: (address, user) => rateLimits.forget(ofUser(networkOf(address), user)),
  }
}
