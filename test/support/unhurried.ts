/** What a request may spend, where a test is not about its time. */

import { Allowance, type AllowanceLimits } from '../../pipeline/language/allowance.ts'

/** @returns an allowance with the usual limits but that of time, which a busy machine may use up in between */
export function unhurried(limits: Partial<AllowanceLimits> = {}, party?: object): Allowance {
  return new Allowance({ time: Number.POSITIVE_INFINITY, ...limits }, party)
}
