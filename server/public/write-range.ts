/** The `Range` of a write. */

import { header } from '../../edge/fields.ts'
import { Fault } from '../../pipeline/fault.ts'
import { parseRange, type SelectorRange } from '../../pipeline/http/range.ts'
import type { Exchange } from './exchange.ts'

/**
 * @returns undefined for a whole-document write
 * @throws Fault 400 for any other unit: ignoring it would turn an element write into a whole one (HTTP-46)
 */
export function writeRange(exchange: Exchange): SelectorRange | undefined {
  const range = parseRange(header(exchange, 'range'))
  if (range === undefined || range.unit === 'selector') return range
  throw new Fault(400, 'InvalidRange', 'A write understands only Range: selector=<css>.')
}
