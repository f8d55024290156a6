/** How often one place may begin to sign in: each login costs a place in the session store and a visit to the provider. */

import type { RateLimits } from '../../pipeline/coordination/rate-limits.ts'
import { networkOf } from '../../pipeline/http/network.ts'

/** Enough for a school that signs in behind one address in the morning. */
const LOGINS = { most: 200, perSecond: 2 }

/**
 * Takes one from the logins that an address has left.
 *
 * @param address IPv4 or IPv6; addresses that one customer is given together count as one
 * @returns undefined, or the seconds after which there is one again
 */
export function takeLogin(rateLimits: RateLimits, address: string): Promise<number | undefined> {
  return rateLimits.spend(`login ${networkOf(address)}`, LOGINS)
}
