/** REPORT: what changed in a collection since it was last asked for (RFC 6578, DAV-38). */

import type { Answer } from '../pipeline/answer.ts'
import { Fault } from '../pipeline/fault.ts'
import type { Exchange } from './exchange.ts'

export async function report(_exchange: Exchange): Promise<Answer> {
  throw new Fault(403, 'Forbidden', 'This report is not supported.', { precondition: { code: 'supported-report' } })
}
