/** Fields of requests, and what both surfaces ask of those that describe a body. */

import type { IncomingMessage } from 'node:http'
import { Fault } from '../pipeline/fault.ts'

/** A request header as one string; repeated fields are joined as RFC 9110 §5.3 says. @param name lower case */
export function header({ request }: { request: IncomingMessage }, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/**
 * Bodies are stored whole and as they are sent (HTTP-83, DAV-43).
 *
 * @throws Fault 415 for a content coding, 400 for a PUT of a part of a body
 */
export function checkBodyFields(exchange: { request: IncomingMessage }): void {
  const coding = header(exchange, 'content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity')
    throw new Fault(415, 'UnsupportedMediaType', 'Send the body without Content-Encoding.')
  if (exchange.request.method === 'PUT' && header(exchange, 'content-range') !== undefined)
    throw new Fault(
      400,
      'BadRequest',
      'Content-Range is not allowed on PUT; send the whole, or write one element with Range: selector=….',
    )
}
