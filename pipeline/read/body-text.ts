/** Bodies of requests that are text. */

import type { BodySource } from '../body.ts'
import { Fault } from '../fault.ts'
import { decodeInTurn } from '../tree/document.ts'

/**
 * A body that is text: a fragment, or a selector. A long one is decoded in turns.
 *
 * @param cap bytes
 * @throws Fault 422 when it is not UTF-8, 413 over the cap
 */
export async function bodyText(body: BodySource, cap: number): Promise<string> {
  const { text, utf8 } = await decodeInTurn(await body.bytes(cap))
  if (!utf8) throw new Fault(422, 'InvalidFragment', 'The fragment is not valid UTF-8.')
  return text
}
