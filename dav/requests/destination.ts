/** Where a COPY or MOVE goes (DAV-13, DAV-48). */

import { destinationField } from '../../edge/request.ts'
import { Fault } from '../../pipeline/fault.ts'
import { parseDestination } from '../../pipeline/http/destination.ts'
import { reserved } from '../../pipeline/http/path.ts'
import type { Exchange } from '../exchange.ts'
import { isServerOwned } from '../locks/guard.ts'

/**
 * The `Destination` field.
 *
 * @returns the decoded path relative to the mount
 * @throws Fault 400 without a usable field, 502 for another host and for a path outside of the mount, 403 for a
 *   reserved one
 */
export function destinationOf(exchange: Exchange): string {
  const field = destinationField(exchange)
  if (field === undefined) throw new Fault(400, 'BadRequest', 'The Destination header is missing.')
  const { mount, author, authorities } = exchange
  const path = withoutPrefix(parseDestination(field, 'mount', authorities, author.user), mount.prefix)
  if (path === undefined) throw new Fault(502, 'BadGateway', 'Destination lies outside of this mount.')
  if (isServerOwned(exchange, path)) throw reserved()
  return path
}

/** @returns undefined for a path that is not under the prefix */
export function withoutPrefix(path: string, prefix: string): string | undefined {
  if (prefix === '') return path
  if (path === prefix) return '/'
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined
}
