/** PUT: whole documents and blobs, or one element by selector. */

import { checkBodyFields, header } from '../../edge/fields.ts'
import { fragmentText } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { causeOf, type Exchange, lockCheck } from './exchange.ts'
import { writeRange } from './write-range.ts'

export async function put(exchange: Exchange): Promise<Answer> {
  const { request, site, path, authority } = exchange
  checkBodyFields(exchange)
  const range = writeRange(exchange)
  const common = { path, conditions: readConditions(request.headers), cause: causeOf(exchange) }
  if (range)
    return writeElement(
      site,
      { ...common, op: 'put', range, text: () => fragmentText(exchange.body, largestDocument(site.settings)) },
      authority,
    )
  const language = header(exchange, 'content-language')
  return putDocument(
    site,
    {
      ...common,
      ...lockCheck(exchange),
      type: header(exchange, 'content-type'),
      ...(language && { language }),
      body: exchange.body,
    },
    authority,
  )
}
