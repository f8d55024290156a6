/** GET and HEAD. */

import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import { readResource } from '../../pipeline/read/read.ts'
import { asksForStream, subscribe } from '../streams/subscribe.ts'
import type { Exchange } from './exchange.ts'

export function get(exchange: Exchange): Promise<Answer> {
  if (asksForStream(exchange)) return subscribe(exchange)
  const { request, site, target, path, session } = exchange
  return readResource(
    site,
    {
      path,
      requested: target.path,
      head: exchange.method === 'HEAD',
      ...(target.query !== undefined && { query: target.query }),
      range: parseRange(header(exchange, 'range')),
      accept: header(exchange, 'accept'),
      acceptEncoding: header(exchange, 'accept-encoding'),
      conditions: readConditions(request.headers),
      ifRange: header(exchange, 'if-range'),
      setsCookie: session.issue !== undefined,
      cors: exchange.hosted.settings.cors.length > 0,
    },
    exchange.authority(),
  )
}
