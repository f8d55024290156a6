/** GET, HEAD and QUERY as operations: the fields of the request, read (gate 7 of HTTP-1). */

import { header } from '../../edge/fields.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { ACCEPT_QUERY, essence } from '../../pipeline/http/media.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { queryDocument } from '../../pipeline/read/query.ts'
import { type Read, readResource } from '../../pipeline/read/read.ts'
import { absent, refuseForbidden, requireAllowed } from '../../pipeline/refusals.ts'
import { asksForStream, subscription } from '../streams/subscribe.ts'
import type { Exchange } from './exchange.ts'
import { pageReader } from './reader.ts'

export function get(exchange: Exchange): Operation {
  if (asksForStream(exchange)) return subscription(exchange)
  const { site, target, method, authority } = exchange
  const read: Read = {
    ...readOf(exchange),
    head: method === 'HEAD',
    ...(target.query !== undefined && { query: target.query }),
    range: parseRange(header(exchange, 'range')),
    acceptEncoding: header(exchange, 'accept-encoding'),
    ifRange: header(exchange, 'if-range'),
  }
  return readResource(site, read, authority, pageReader(exchange))
}

function readOf(exchange: Exchange): Read {
  const { request, path, target, session, hosted } = exchange
  return {
    path,
    requested: target.path,
    head: false,
    range: undefined,
    accept: header(exchange, 'accept'),
    acceptEncoding: undefined,
    conditions: readConditions(request.headers),
    ifRange: undefined,
    setsCookie: session.issue !== undefined,
    cors: hosted.settings.cors.length > 0,
  }
}

/** Selectors on one document (HTTP-130 to HTTP-134). */
export function query(exchange: Exchange): Operation {
  const { site, authority } = exchange
  const type = essence(header(exchange, 'content-type') ?? '')
  return type === 'text/css-selector'
    ? queryDocument(site, readOf(exchange), authority, pageReader(exchange))
    : program(exchange, type)
}

/** Every other content type is a program to be run (HTTP-134), which needs a grant of its own (METH-3). */
function program({ site, path, authority }: Exchange, type: string): Operation {
  const question = async () => ({ ask: 'evaluate' as const, path, exists: (await site.find(path)) !== undefined })
  return {
    async admit() {
      refuseForbidden(authority(), await question(), 'QUERY', path)
      return {}
    },
    async carryOut() {
      const asked = await question()
      requireAllowed(authority(), asked, 'QUERY', path)
      if (!asked.exists) throw absent()
      const headers = { 'Accept-Query': ACCEPT_QUERY }
      if (type === 'text/sessel')
        throw new Fault(501, 'NotImplemented', 'Expressions are not evaluated here; query with text/css-selector.', {
          headers,
        })
      throw new Fault(400, 'BadRequest', 'Send a CSS selector with Content-Type: text/css-selector.', { headers })
    },
  }
}
