/** POST: an element of a document by selector; without a selector there is nothing to post to (DAV-45). */

import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { checkWritable } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { writeElements } from './elements.ts'

export async function post(exchange: Exchange): Promise<Answer> {
  checkWritable(exchange.author.scope, exchange.path)
  if (header(exchange, 'range') === undefined)
    throw new Fault(422, 'InvalidRange', 'POST needs Range: selector=<css> here.')
  return writeElements(exchange, 'post')
}
