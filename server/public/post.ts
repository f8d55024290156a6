/** POST: a fragment into a document, or a new resource below a directory. */

import { checkBodyFields, header } from '../../edge/fields.ts'
import { fragmentText } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { placementOf } from '../../pipeline/http/range.ts'
import { absent, requireAllowed } from '../../pipeline/refusals.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import { createDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { causeOf, type Exchange, lockCheck } from './exchange.ts'
import { writeRange } from './write-range.ts'

export async function post(exchange: Exchange): Promise<Answer> {
  const { request, site, path, target, authority } = exchange
  checkBodyFields(exchange)
  const range = writeRange(exchange)
  const common = { conditions: readConditions(request.headers), cause: causeOf(exchange) }
  if (range) {
    const placement = placementOf(range.placement)
    return writeElement(
      site,
      {
        ...common,
        path,
        op: 'post',
        range,
        placement,
        text: () => fragmentText(exchange.body, largestDocument(site.settings)),
      },
      authority,
    )
  }
  if (target.path.endsWith('/')) {
    const type = header(exchange, 'content-type')
    return createDocument(
      site,
      { ...common, ...lockCheck(exchange), path: target.path, type, body: exchange.body },
      authority,
    )
  }
  return refuseWhole(exchange)
}

/** HTTP-97: without a range there is nothing to insert into, and no document here is a template for others. */
async function refuseWhole(exchange: Exchange): Promise<never> {
  const { site, path, authority } = exchange
  const held = await site.find(path)
  const decided = authority()
  requireAllowed(decided.admit({ ask: 'post', path, exists: held !== undefined }), 'POST', path, decided)
  if (!held) throw absent()
  throw new Fault(
    422,
    held.isDocument ? 'InvalidRange' : 'NotHtml',
    'Name the place to insert at: Range: selector=<css>.',
  )
}
