/** DELETE: a whole document or blob, or one element by selector. */

import type { Answer } from '../../pipeline/answer.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { deleteDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { causeOf, type Exchange, lockCheck } from './exchange.ts'
import { writeRange } from './write-range.ts'

export async function remove(exchange: Exchange): Promise<Answer> {
  const { request, site, path, authority } = exchange
  const range = writeRange(exchange)
  const common = { path, conditions: readConditions(request.headers), cause: causeOf(exchange) }
  return range
    ? writeElement(site, { ...common, op: 'delete', range }, authority)
    : deleteDocument(site, { ...common, ...lockCheck(exchange) }, authority)
}
