/** Repeats a write until it commits: every attempt is decided and applied against the newest version (HTTP-4). */

import { LeaseError, LeaseTimeout } from './coordination/leases.ts'
import { LockError } from './coordination/locks.ts'
import { invalidSelector } from './decide.ts'
import { Fault } from './fault.ts'
import { SelectorError } from './tree/selector/selector.ts'

/** Attempts before a writer is told to come again; conflicts need another process, or rules that keep changing. */
const ATTEMPTS = 50

/**
 * @param attempt returns undefined when another commit came first
 * @throws Fault 503 when other commits keep coming first
 */
export async function commitLoop<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const done = await attempt()
    if (done !== undefined) return done
  }
  throw busy()
}

export function busy(): Fault {
  return new Fault(503, 'Unavailable', 'Too many writers at once. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  })
}

/**
 * Errors that are answers, not faults of the server: a lease that did not come in time (DAV-8), leases or locks that
 * cannot be had now (DAV-102), and a client's selector that turned out too costly while it was evaluated.
 */
export function asFault(error: unknown): unknown {
  if (error instanceof SelectorError) return invalidSelector(error)
  if (error instanceof LockError) return withoutLocks(error)
  if (error instanceof LeaseError) return withoutLeases(error)
  return error instanceof LeaseTimeout ? busy() : error
}

function withoutLeases(cause: LeaseError): Fault {
  return new Fault(503, 'Unavailable', 'Nothing can be written now. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  })
}

function withoutLocks(cause: LockError): Fault {
  return new Fault(503, 'Unavailable', 'Locks cannot be kept or looked up now. Try again in a moment.', {
    headers: { 'Retry-After': '5' },
    cause,
  })
}
