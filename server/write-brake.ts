/** A brake for public writes: far more than a person does, and far less than a program could. */

import type { RateLimits } from '../pipeline/coordination/rate-limits.ts'
import { Fault } from '../pipeline/fault.ts'
import { networkOf } from '../pipeline/http/network.ts'

/**
 * Takes one of the writes that a visitor has left. Whoever is signed in is counted by name, so that people behind one address
 * do not slow each other down; everybody else by address.
 *
 * @throws Fault 429 when there is none
 */
export type BrakeWrites = (visitor: { site: string; user: string | undefined; address: string }) => Promise<void>

/** @param perMinute 0 for no limit */
export function createWriteBrake(rateLimits: RateLimits, perMinute: number): BrakeWrites | undefined {
  if (perMinute === 0) return undefined
  const allowance = { most: perMinute, perSecond: perMinute / 60 }
  return async ({ site, user, address }) => {
    const who = user === undefined ? `from ${networkOf(address)}` : `by ${user}`
    const wait = await rateLimits.spend(`write ${site} ${who}`, allowance)
    if (wait === undefined) return
    throw new Fault(429, 'TooManyRequests', `More than ${perMinute} changes came from here within a minute.`, {
      headers: { 'Retry-After': String(wait) },
    })
  }
}
