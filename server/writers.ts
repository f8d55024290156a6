/** Finished requests, and who writes, as the log, the metrics and the record of changes tell it. */

import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import type { Settings } from '../config/schema.ts'
import { type Log, logRequest, type Writer } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Methods that may change something, on either surface. */
const WRITING = new Set(['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'COPY', 'MKCOL', 'PROPPATCH', 'LOCK', 'UNLOCK'])

/** Characters of a selector that are told. */
const LONGEST = 200

/** @param method upper case */
export function isWriting(method: string): boolean {
  return WRITING.has(method)
}

/** Of an address what the settings have told. @returns undefined for nothing */
export function toldAddress(address: string, { clients }: Pick<Settings['log'], 'clients'>): string | undefined {
  if (clients === 'none') return undefined
  return clients === 'network' ? network(address) : address
}

/** The first 24 bits of an IPv4 address, the first 48 of an IPv6 address. */
function network(address: string): string | undefined {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address
  if (isIPv4(mapped)) return `${mapped.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(address)) return undefined
  const [head = ''] = address.replace(/%.*$/, '').split('::')
  const groups = head === '' ? [] : head.split(':')
  return `${[...groups, '0', '0', '0'].slice(0, 3).join(':')}::/48`
}

/** Whoever has sent a request, as far as it is known. */
interface Sender {
  user: string | undefined
  /** Of the client. */
  address: string
  /** The `Range` field. */
  range: string | undefined
}

/**
 * Tells log and metrics of a request that was answered.
 *
 * @param finished.who told of requests that may have changed something; absent for repeated answers
 */
export function reportRequest(
  { metrics, log, logged }: { metrics: Metrics; log: Log; logged: Settings['log'] },
  finished: {
    face: 'public' | 'mount'
    request: IncomingMessage
    status: number
    milliseconds: number
    who: Sender | undefined
  },
): void {
  const { face, request, status, milliseconds, who } = finished
  const { method = '', url = '' } = request
  metrics.request(face, method, status, milliseconds / 1000)
  const by = who && isWriting(method) ? { by: writerOf(logged, who) } : undefined
  logRequest(log, { face, host: request.headers.host ?? '', method, url, status, milliseconds, ...by })
}

/**
 * @param user who is known by a session or a credential
 * @param address of the client
 * @param range the `Range` field
 */
export function writerOf(settings: Settings['log'], { user, address, range }: Sender): Writer {
  const client = toldAddress(address, settings)
  const selector = range === undefined ? undefined : selectorIn(range)
  return {
    ...(user !== undefined && settings.users && { user }),
    ...(client !== undefined && { client }),
    ...(selector !== undefined && { selector }),
  }
}

/** The selector of a `Range` field; undefined for any other. */
export function selectorIn(range: string): string | undefined {
  const selector = /^ *selector *= *(.*)$/is.exec(range.slice(0, LONGEST + 20))?.[1]
  return selector?.slice(0, LONGEST)
}
