/** The `Range` of OPTIONS, which is never refused: what cannot be read counts as absent (HTTP-120). */

import { Fault } from '../../pipeline/fault.ts'
import { parseRange } from '../../pipeline/http/range.ts'

/** @returns the selector text as sent, or undefined without a selector range */
export function selectorOf(field: string | undefined): string | undefined {
  try {
    const range = parseRange(field)
    return range?.unit === 'selector' ? range.selector : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
