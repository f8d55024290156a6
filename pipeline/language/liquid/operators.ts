/** The operators that compare (LIQ-28, LIQ-29). */

import { containing, equaling, order } from './compare.ts'
import type { Operator } from './expression.ts'
import type { Run } from './run.ts'
import type { LiquidValue } from './values.ts'
import type { Work } from './work.ts'

/** Long values are gone through in turns. */
export function* comparing(
  operator: Exclude<Operator, 'and' | 'or'>,
  left: LiquidValue,
  right: LiquidValue,
  run: Run,
): Work<boolean> {
  switch (operator) {
    case '==':
      return yield* equaling(left, right, run)
    case '!=':
    case '<>':
      return !(yield* equaling(left, right, run))
    case 'contains':
      return yield* containing(left, right, run)
    default: {
      const sign = order(left, right, run)
      if (sign === undefined) return false
      if (operator === '<') return sign < 0
      if (operator === '>') return sign > 0
      return operator === '<=' ? sign <= 0 : sign >= 0
    }
  }
}
