/** Errors that are answers, not faults of the server: what could not be had for a request, on either surface. */

import { LeaseError, LeaseTimeout } from './coordination/leases.ts'
import { LockError } from './coordination/locks.ts'
import { Fault } from './fault.ts'
import { AllowanceSpent } from './language/allowance.ts'
import { invalidSelector } from './refusals.ts'
import { lacksDescriptors, StoreError } from './store/errors.ts'
import { HeapError } from './tree/heap.ts'
import { SelectorError } from './tree/selector/selector.ts'

export function busy(): Fault {
  return new Fault(503, 'Unavailable', 'Too many writers at once. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  })
}

/**
 * A spent allowance (HTTP-172), a lease that did not come in time (DAV-8), leases, locks or storage that cannot be had now (DAV-102), and a client's
 * selector that turned out too costly while it was evaluated become answers; anything else stays what it is.
 *
 * @param full status of a disk without room: 507 says it to WebDAV clients, HTTP alone has no word for it
 */
export function asFault(error: unknown, full: 503 | 507 = 503): unknown {
  if (error instanceof AllowanceSpent) return withoutAllowance(error)
  if (error instanceof SelectorError) return invalidSelector(error)
  if (error instanceof HeapError) return withoutHeap(error)
  if (error instanceof LockError) return withoutLocks(error)
  if (error instanceof StoreError && !isWithoutDescriptors(error)) return withoutStore(error, full)
  if (error instanceof LeaseError) return withoutLeases(error)
  if (isWithoutDescriptors(error)) return withoutDescriptors(error)
  return error instanceof LeaseTimeout ? busy() : error
}

/** Whether a failure comes of too few descriptors. */
function isWithoutDescriptors(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return lacksDescriptors(error) || (cause !== undefined && isWithoutDescriptors(cause))
}

function withoutDescriptors(cause: unknown): Fault {
  return new Fault(503, 'Unavailable', 'Too many files are open now. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  })
}

/** HTTP-183 */
function withoutHeap({ reason }: HeapError): Fault {
  if (reason === 'small')
    return new Fault(507, 'AllowanceExhausted', 'This server has not enough memory for a document of so many elements.')
  if (reason === 'long')
    return new Fault(507, 'AllowanceExhausted', 'The markup is longer than any text that this server can hold.')
  return new Fault(503, 'Unavailable', 'There is no memory left for this now. Try again in a moment.', {
    headers: { 'Retry-After': '5' },
  })
}

/** HTTP-172; the mount answers it as 507. */
function withoutAllowance({ message }: AllowanceSpent): Fault {
  return new Fault(503, 'BudgetExceeded', message, { headers: { 'Retry-After': '5' } })
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

/** A failure of another kind is one of the server: nobody knows whether the change was stored. */
function withoutStore(cause: StoreError, full: 503 | 507): unknown {
  if (cause.reason === 'full' && full === 507)
    return new Fault(507, 'AllowanceExhausted', 'There is no room left to store this. Nothing was changed.', { cause })
  if (cause.reason === 'unknown')
    return new Fault(503, 'Unavailable', 'Nobody knows yet whether this was stored. Look, and try again in a moment.', {
      headers: { 'Retry-After': '2' },
      cause,
    })
  const { reason } = cause
  const takesNone = reason === 'full' || reason === 'unwritable'
  if (!takesNone && reason !== 'busy' && reason !== 'closed') return cause
  const what = takesNone ? 'Nothing can be stored now.' : 'What is stored cannot be reached now.'
  return new Fault(503, 'Unavailable', `${what} Try again in a moment.`, {
    headers: { 'Retry-After': takesNone ? '60' : '2' },
    cause,
  })
}
