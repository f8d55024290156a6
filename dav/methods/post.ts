/** POST: an element of a document by selector, or a form of a listing in a browser (DAV-40, DAV-45). */

import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { checkWritable } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { writeElements } from './elements.ts'
import { isForm, submitForm } from './forms.ts'

export async function post(exchange: Exchange): Promise<Answer> {
  checkWritable(exchange.author.scope, exchange.path)
  if (header(exchange, 'range') === undefined) {
    if (isForm(exchange)) return submitForm(exchange)
    throw new Fault(422, 'InvalidRange', 'POST needs Range: selector=<css> here.')
  }
  return writeElements(exchange, 'post')
}
