/** Slows down those who guess passwords: every failure makes the next attempt from there wait longer (DAV-3). */

import { setTimeout as sleep } from 'node:timers/promises'
import type { RateLimits } from '../../pipeline/coordination/rate-limits.ts'
import { Fault } from '../../pipeline/fault.ts'
import { networkOf } from '../../pipeline/http/network.ts'
import { ownText } from '../../pipeline/own-text.ts'

export interface LoginThrottles {
  /** That of sites which have their users in common. Failures count for the address at all sites, and for a user at these. */
  of(sites: string): LoginThrottle
}

/** Addresses that one customer is given together count as one. */
export interface LoginThrottle {
  /**
   * Checks a password once earlier failures of this address, alone and with this user, have been waited for. The attempt
   * counts as a failure from its beginning, so that many at once are no more than many one after another. A success takes it
   * back and forgets the failures with this user; those with others still count for the address.
   *
   * @param check finds whom the password stands for
   * @returns what `check` finds; undefined is a failure
   * @throws Fault 503 when the address has too many attempts waiting already, and what `check` throws: then it is no attempt
   */
  attempt<Found>(address: string, user: string, check: () => Promise<Found | undefined>): Promise<Found | undefined>
}

/** Failures that cost nothing: people mistype. */
const FREE = { user: 4, address: 24 }
/** Milliseconds: the wait doubles from the shortest to the longest. */
const SHORTEST = 250
const LONGEST = 8_000
/** Milliseconds after which a failure is forgotten. */
const FORGOTTEN = 15 * 60_000
/** Attempts of one address that wait for earlier failures. */
const MOST_PAUSED = 8
/** Attempts of one address that are checked at once: fewer than make anybody wait whose password is right. */
const CHECKED = 4
/** Attempts of one address that wait for those to end: many people may come from one address. */
const MOST_QUEUED = 64
/** Characters by which users are told apart: what is longer is no name, and costs no more memory. */
const LONGEST_USER = 64

/** Attempts of one address that have not come to their end. */
interface Lane {
  attempts: number
  checked: number
  paused: number
  readonly queue: (() => void)[]
}

/**
 * @param options.rateLimits keep the failures
 * @param options.pause waits that many milliseconds
 * @param options.slowed told of each attempt that has to wait, or finds no room to
 */
export function createLoginThrottles(options: {
  rateLimits: RateLimits
  pause?: (milliseconds: number) => Promise<void>
  slowed?: (address: string) => void
}): LoginThrottles {
  const { rateLimits, pause = ms => sleep(ms, undefined, { ref: false }), slowed = () => undefined } = options
  const lanes = new Map<string, Lane>()

  const ofNetwork = (network: string) => `password ${network}`

  const delayAfter = (failures: number, free: number): number =>
    failures < free ? 0 : Math.min(SHORTEST * 2 ** (failures - free), LONGEST)

  /** Lets few attempts of one address through at a time. @throws Fault 503, and what `work` throws */
  async function through<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    if (lane.checked >= CHECKED) {
      if (lane.queue.length >= MOST_QUEUED) throw tooMany('attempts', SHORTEST)
      await new Promise<void>(resolve => lane.queue.push(resolve))
    } else lane.checked++
    try {
      return await work()
    } finally {
      const next = lane.queue.shift()
      if (next) next()
      else lane.checked--
    }
  }

  /** @throws Fault 503 */
  async function outwait(lane: Lane, delay: number): Promise<void> {
    if (lane.paused >= MOST_PAUSED) throw tooMany('failed attempts', delay)
    lane.paused++
    await pause(delay).finally(() => lane.paused--)
  }

  const of = (sites: string): LoginThrottle => ({
    async attempt(address, user, check) {
      const network = networkOf(address)
      const ofUser = `password ${network}\n${sites}\n${ownText(user.slice(0, LONGEST_USER))}`
      const keys = [ofUser, ofNetwork(network)]
      const lane = lanes.get(network) ?? { attempts: 0, checked: 0, paused: 0, queue: [] }
      lanes.set(network, lane)
      lane.attempts++
      let isCounted = false
      const begin = async () => {
        const [one = 1, all = 1] = await rateLimits.add(keys, FORGOTTEN)
        isCounted = true
        const delay = Math.max(delayAfter(one - 1, FREE.user), delayAfter(all - 1, FREE.address))
        return { delay, found: delay > 0 ? undefined : await check() }
      }
      try {
        const begun = await through(lane, begin)
        if (begun.delay > 0) {
          slowed(address)
          await outwait(lane, begun.delay)
        }
        const found = begun.delay > 0 ? await through(lane, check) : begun.found
        if (found !== undefined)
          await Promise.all([rateLimits.forget(ofUser), rateLimits.takeBack([ofNetwork(network)])])
        return found
      } catch (error) {
        if (isCounted) await rateLimits.takeBack(keys)
        throw error
      } finally {
        if (--lane.attempts === 0) lanes.delete(network)
      }
    },
  })
  return { of }
}

function tooMany(what: string, delay: number): Fault {
  return new Fault(503, 'Unavailable', `Too many ${what} to sign in. Try again later.`, {
    headers: { 'Retry-After': String(Math.ceil(delay / 1000)) },
  })
}
