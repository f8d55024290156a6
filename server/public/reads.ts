/** GET, HEAD and QUERY as operations: the fields of the request, read (gate 7 of HTTP-1). */

import { header } from '../../edge/request.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { queryDocument } from '../../pipeline/read/query.ts'
import { type Read, readResource } from '../../pipeline/read/read.ts'
import { asksForStream, subscription } from '../streams/subscribe.ts'
import type { Exchange } from './exchange.ts'
import { asksForProgram, programOperation } from './programs.ts'
import { pageReader } from './reader.ts'

export function get(exchange: Exchange): Operation {
  if (asksForStream(exchange)) return subscription(exchange)
  const { site, target, method, authority, hosted } = exchange
  const read: Read = {
    ...readOf(exchange),
    head: method === 'HEAD',
    ...(target.query !== undefined && { query: target.query }),
    range: parseRange(header(exchange, 'range')),
    acceptEncoding: header(exchange, 'accept-encoding'),
    ifRange: header(exchange, 'if-range'),
    versionField: `${hosted.settings.brandHeader}-Version`,
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
    ...(exchange.guarded && { guarded: true }),
    cors: hosted.settings.cors.length > 0,
    assetSeconds: Math.floor(hosted.settings.assetMaxAge / 1000),
  }
}

/** Selectors on one document (HTTP-130 to HTTP-134). */
export function query(exchange: Exchange): Operation {
  const { site, authority } = exchange
  return asksForProgram(exchange)
    ? programOperation(exchange)
    : queryDocument(site, readOf(exchange), authority, pageReader(exchange))
}
