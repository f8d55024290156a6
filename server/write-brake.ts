/** A brake for public writes: far more than a person does, and far less than a program could. */

import type { RateLimits, RefillingAllowance } from '../pipeline/coordination/rate-limits.ts'
import { Fault } from '../pipeline/fault.ts'
import { networkOf } from '../pipeline/http/network.ts'

/**
 * Takes one of the writes that a visitor has left. Whoever is signed in is counted by name, so that people behind one address
 * do not slow each other down; everybody else by address.
 *
 * @throws Fault 429 when there is none
 */
export type BrakeWrites = (visitor: Writer) => Promise<void>

interface Writer {
  site: string
  user: string | undefined
  address: string
}

/**
 * Takes from what a visitor may have kept in sessions. Whoever has no cookie gets a new session with each request, so that
 * what one session may hold limits nobody (COMP-82).
 *
 * @param bytes to be kept; a few kilobytes are free
 * @throws Fault 429 when there is no room left for the visitor
 */
export type BrakeContent = (visitor: Writer, bytes: number) => Promise<void>

/** @param perMinute 0 for no limit */
export function createWriteBrake(rateLimits: RateLimits, perMinute: number): BrakeWrites | undefined {
  if (perMinute === 0) return undefined
  const allowance = { most: perMinute, perSecond: perMinute / 60 }
  return brakeOf(rateLimits, 'write', allowance, `More than ${perMinute} changes came from here within a minute.`)
}

/**
 * Takes from an allowance of a visitor.
 *
 * @param what names the allowance
 * @param said to whoever has too little of it
 */
function brakeOf(rateLimits: RateLimits, what: string, allowance: RefillingAllowance, said: string) {
  return async (visitor: Writer, amount = 1, more: { isBodyRead?: true } = {}): Promise<void> => {
    const wait = await rateLimits.spend(`${what} ${nameOf(visitor)}`, allowance, amount)
    if (wait === undefined) return
    throw new Fault(429, 'TooManyRequests', said, { headers: { 'Retry-After': String(wait) }, ...more })
  }
}

/** Who writes, as both brakes know them. */
export function writerOf(
  { settings }: { settings: { host: string } },
  session: { principal?: { sub: string } } | undefined,
  { address }: { address: string },
): Writer {
  return { site: settings.host, user: session?.principal?.sub, address }
}

function nameOf({ site, user, address }: Writer): string {
  return `${site} ${user === undefined ? `from ${networkOf(address)}` : `by ${user}`}`
}

/** Bytes of session content that a person hardly writes at once, and those that count as one. */
const FREE_CONTENT = 4 * 1024
const UNIT = 64 * 1024
/** Such units for each write that is allowed in a minute: 75 MiB at once by default, and as much in an hour. */
const UNITS_PER_WRITE = 2

/** @param perMinute writes of one visitor; where they are not limited, neither is what they keep */
export function createContentBrake(rateLimits: RateLimits, perMinute: number): BrakeContent | undefined {
  if (perMinute === 0) return undefined
  const most = perMinute * UNITS_PER_WRITE
  const allowance = { most, perSecond: most / 3600 }
  const brake = brakeOf(rateLimits, 'content', allowance, 'Too much was kept in sessions from here within an hour.')
  return async (visitor, bytes) => {
    if (bytes > FREE_CONTENT) await brake(visitor, Math.ceil(bytes / UNIT), { isBodyRead: true })
  }
}
