/** What one listing may hold: beyond it a few bytes of request would make hundreds of megabytes of answer. */

import { Fault } from '../../pipeline/fault.ts'
import { namesIn, type PropRequest } from '../properties/prop-request.ts'

/** Names asked for times members answered. */
const MOST_CELLS = 500_000
/** Names that any listing may be asked for, however long it is. */
const FREE_NAMES = 64

/** Bytes of dead properties of members, with their names. */
export const MOST_DESCRIBED = 32 * 1024 * 1024

/** @throws Fault 507 */
export function checkCells(asked: PropRequest, members: number): void {
  const names = namesIn(asked).length
  if (names > FREE_NAMES && names * members > MOST_CELLS) throw tooMuch()
}

export function tooMuch(): Fault {
  return new Fault(507, 'AllowanceExhausted', 'The request asks for too many properties of too many members at once.')
}
