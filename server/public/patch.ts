/** PATCH is listed by OPTIONS, but no change format is defined (HTTP-115). */

import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { requireAllowed } from '../../pipeline/refusals.ts'
import type { Exchange } from './exchange.ts'

export async function patch(exchange: Exchange): Promise<Answer> {
  const { path, authority } = exchange
  const decided = authority()
  requireAllowed(decided.admit({ ask: 'patch', path, exists: true }), 'PATCH', path, decided)
  throw new Fault(501, 'NotImplemented', 'No patch format is understood here. Use PUT with Range: selector=<css>.')
}
