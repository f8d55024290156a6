/** The operators that compare (LIQ-28, LIQ-29). */

import { contains, equals, order } from './compare.ts'
import type { Operator } from './expression.ts'
import type { Run } from './run.ts'
import type { LiquidValue } from './values.ts'

export function compareValues(
  operator: Exclude<Operator, 'and' | 'or'>,
  left: LiquidValue,
  right: LiquidValue,
  run: Run,
): boolean {
  switch (operator) {
    case '==':
      return equals(left, right, run)
    case '!=':
    case '<>':
      return !equals(left, right, run)
    case 'contains':
      return contains(left, right, run)
    default: {
      const sign = order(left, right, run)
      if (sign === undefined) return false
      if (operator === '<') return sign < 0
      if (operator === '>') return sign > 0
      return operator === '<=' ? sign <= 0 : sign >= 0
    }
  }
}
