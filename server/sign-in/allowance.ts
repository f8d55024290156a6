/** How often one place may begin to sign in: each login costs a place in the session store and a visit to the provider. */

import { networkOf } from '../../pipeline/http/network.ts'

export interface Allowance {
  /**
   * Takes one from what an address has left.
   *
   * @param address IPv4 or IPv6; addresses that one customer is given together count as one
   * @returns undefined, or the seconds after which there is one again
   */
  take(address: string): number | undefined
}

/** Enough for a school that signs in behind one address in the morning. */
const MOST = 200
const PER_SECOND = 2
const MOST_COUNTED = 10_000

/** @param clock unix milliseconds */
export function createAllowance(clock: () => number = Date.now): Allowance {
  /** What is left, and when that was; the places that were heard of longest ago first. */
  const places = new Map<string, { left: number; at: number }>()

  return {
    take(address) {
      const place = networkOf(address)
      const now = clock()
      const known = places.get(place)
      const gained = known ? (Math.max(now - known.at, 0) / 1000) * PER_SECOND : MOST
      const left = Math.min((known?.left ?? 0) + gained, MOST)
      places.delete(place)
      places.set(place, { left: left >= 1 ? left - 1 : left, at: now })
      if (places.size > MOST_COUNTED) {
        const [oldest] = places.keys()
        if (oldest !== undefined) places.delete(oldest)
      }
      return left >= 1 ? undefined : Math.ceil((1 - left) / PER_SECOND)
    },
  }
}
