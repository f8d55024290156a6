/** QUERY: selectors on one document (HTTP-130 to HTTP-134). */

import { header } from '../../edge/fields.ts'
import { fragmentText } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { ACCEPT_QUERY, essence } from '../../pipeline/http/media.ts'
import { queryDocument } from '../../pipeline/read/query.ts'
import { absent, requireAllowed } from '../../pipeline/refusals.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import type { Exchange } from './exchange.ts'

export async function query(exchange: Exchange): Promise<Answer> {
  const { request, site, path, target, session } = exchange
  const type = essence(header(exchange, 'content-type') ?? '')
  if (type !== 'text/css-selector') return refuseProgram(exchange, type)
  return queryDocument(
    site,
    {
      path,
      requested: target.path,
      head: false,
      range: undefined,
      accept: header(exchange, 'accept'),
      acceptEncoding: undefined,
      conditions: readConditions(request.headers),
      ifRange: undefined,
      setsCookie: session.issue !== undefined,
      cors: exchange.hosted.settings.cors.length > 0,
    },
    () => fragmentText(exchange.body, largestDocument(site.settings)),
    exchange.authority(),
  )
}

/** Every other content type is a program to be run (HTTP-134), which needs a grant of its own (METH-3). */
async function refuseProgram(exchange: Exchange, type: string): Promise<never> {
  const { site, path, authority } = exchange
  const held = await site.find(path)
  const decided = authority()
  requireAllowed(decided.admit({ ask: 'evaluate', path, exists: held !== undefined }), 'QUERY', path, decided)
  if (!held) throw absent()
  const headers = { 'Accept-Query': ACCEPT_QUERY }
  if (type === 'text/sessel')
    throw new Fault(501, 'NotImplemented', 'Expressions are not evaluated here; query with text/css-selector.', {
      headers,
    })
  throw new Fault(400, 'BadRequest', 'Send a CSS selector with Content-Type: text/css-selector.', { headers })
}
