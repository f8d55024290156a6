/** What the failures of an object store mean. */

import { BlobGone, StoreError } from '../errors.ts'

interface ServiceError {
  name?: string
  message?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
}

/** What the services call being asked too much, or having lost or broken a body on its way. */
const PASSING = new Set([
  'SlowDown',
  'RequestTimeout',
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
  'OperationAborted',
  // The client knows the time of the service from then on.
  'RequestTimeTooSkewed',
])

const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull'])

/** What they call a stretch of an object that is shorter. */
const TOO_SHORT = 416

/** What the client calls an answer that it cannot read: the page of a proxy, which knows nothing of objects. */
const UNREAD = 'Error'

/**
 * `passing`: the same may work a moment later; `absent`: there is no such object; `full`: no room; `refused`: not with this
 * key, bucket or region; `failed`: anything else.
 */
export type Meaning = 'passing' | 'absent' | 'full' | 'refused' | 'failed'

export function meaningOf(error: unknown): Meaning {
  const { name = '', $metadata } = (error ?? {}) as ServiceError
  const status = $metadata?.httpStatusCode
  if (FULL.has(name) || status === 507) return 'full'
  if (status === 404 && name === UNREAD) return 'passing'
  if (status === TOO_SHORT || (status === 404 && name !== 'NoSuchBucket')) return 'absent'
  // Whoever gives no status was not reached, or did not answer to the end; an answer that nobody can read was broken on its way.
  if (status === undefined || status < 300 || status >= 500 || status === 429 || status === 408 || PASSING.has(name))
    return 'passing'
  return status === 400 && name === 'InvalidRequest' ? 'failed' : 'refused'
}

/** Somebody who answers in place of the object store, as proxies do with a page of their own. */
export function notItself(): Error {
  return new Error('What answered is not an object store')
}

export interface Tagged {
  ETag?: string | undefined
}

/** What has no tag was answered by somebody else, and nobody took what was sent. @throws Error */
export function taken<Output extends Tagged>(answer: Output): Output {
  if (answer.ETag === undefined) throw notItself()
  return answer
}

/** A listing names its bucket: what does not was answered by somebody else, and leaves out what is there. @throws Error */
export function listed<Output>(answer: Output, bucket: string | undefined): Output {
  if (bucket === undefined) throw notItself()
  return answer
}

interface Removal {
  $metadata: { httpStatusCode?: number | undefined; requestId?: string | undefined }
}

/** Who removes something says nothing more, or which request that was; a page does neither. @throws Error */
export function removed(answer: Removal): void {
  const { httpStatusCode, requestId } = answer.$metadata
  if (httpStatusCode !== 204 && requestId === undefined) throw notItself()
}

/** What the services say of keys that they do not take. */
const WRONG_KEYS = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'AccessDenied',
])

/** Whether another key may do what this one did not. */
export function isWrongKey(error: unknown): boolean {
  const { name = '', $metadata } = (error ?? {}) as ServiceError
  return WRONG_KEYS.has(name) || $metadata?.httpStatusCode === 401 || $metadata?.httpStatusCode === 403
}

/** Whether nobody took the connection. */
export function isUnreached(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as ServiceError
  return ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)
}

/** What connections end with that somebody has taken, or not in time. */
const BROKEN = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']

/**
 * Whether a failure is that of a service which is away, and may come back by itself; anything else somebody has to mend: an
 * address, a key, a certificate.
 */
export function isNoAnswer(error: unknown): boolean {
  const { name = '', message = '', code = '', $metadata } = (error ?? {}) as ServiceError
  if ($metadata?.httpStatusCode !== undefined) return meaningOf(error) === 'passing'
  return isUnreached(error) || BROKEN.includes(code) || name === 'TimeoutError' || message.startsWith('Timeout')
}

/** What the client says of answers that say nothing. */
const NOTHING = new Set(['', 'Unknown', 'UnknownError'])

/** What went wrong, in words. */
export function wordsOf(error: unknown): string {
  const { name = '', message = '', code = '', $metadata } = (error ?? {}) as ServiceError
  const [line = ''] = message.split('\n')
  const said = [name === 'Error' || name === 'AggregateError' ? code : name, line].filter(each => !NOTHING.has(each))
  return said.length > 0 ? said.join(': ') : `status ${$metadata?.httpStatusCode}`
}

/** An error as callers of the store know them: nothing that was refused was changed. */
export function storeError(error: unknown): Error {
  if (error instanceof StoreError || error instanceof BlobGone) return error
  const meaning = meaningOf(error)
  const message = `Object store: ${wordsOf(error)}`
  if (meaning === 'absent') return new BlobGone(message, { cause: error })
  const reason = meaning === 'full' ? 'full' : meaning === 'failed' ? 'failed' : 'busy'
  return new StoreError(reason, message, { cause: error })
}
