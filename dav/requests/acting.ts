/** Requests that others stand for: what a form does, and the save that a renamed work file is. */

import type { Answer } from '../../pipeline/answer.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import type { Exchange, Handler } from '../exchange.ts'

/** What a method answers in place of what it was to do: a trigger of the site has said so. */
export class OtherAnswer extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super('A trigger has answered')
    this.answer = answer
  }
}

/** Does what a client's request would do. @throws what refuses it, and OtherAnswer where it was not done */
export async function act(method: Handler, request: Exchange): Promise<void> {
  let isDone = false
  const answer = await request.triggered(request, async exchange => {
    const answer = await method(exchange)
    isDone = true
    return answer
  })
  if (!isDone) throw new OtherAnswer(answer)
}

/** The request that a client would send: with these fields and no other. */
export function acting(
  exchange: Exchange,
  method: string,
  path: string,
  fields: Record<string, string> = {},
): Exchange {
  const headers = { host: exchange.request.headers.host, ...fields }
  const headersDistinct = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value]]))
  const request = Object.create(exchange.request, {
    headers: { value: headers },
    headersDistinct: { value: headersDistinct },
  })
  return { ...exchange, request, method, path, raw: false, body: NO_BODY }
}
