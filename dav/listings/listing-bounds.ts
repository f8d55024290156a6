/** What one listing may hold: beyond it a few bytes of request would make hundreds of megabytes of answer. */

import { tooMuch } from '../properties/named-bytes.ts'
import { namesIn, type PropRequest } from '../properties/prop-request.ts'

/** Names asked for times members answered. */
const MOST_CELLS = 500_000
/** Names that any listing may be asked for, however long it is, and bytes that they may take in each response. */
const FREE_NAMES = 64
const FREE_BYTES = 4 * 1024

/** Bytes of dead properties of members, with their names, and of names that are asked for. */
export const MOST_DESCRIBED = 32 * 1024 * 1024

/** @throws Fault 507 */
export function checkCells(asked: PropRequest, members: number): void {
  const names = namesIn(asked).length
  if (names > FREE_NAMES && names * members > MOST_CELLS) throw tooMuch()
  if (asked.bytes > FREE_BYTES && asked.bytes * members > MOST_DESCRIBED) throw tooMuch()
}
