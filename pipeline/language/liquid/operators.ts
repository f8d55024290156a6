/** The operators that compare (LIQ-28, LIQ-29). */

import { containing, equaling, equals, order } from './compare.ts'
import type { Operator } from './expression.ts'
import type { Run } from './run.ts'
import { isList, type LiquidValue, plain } from './values.ts'
import type { Work } from './work.ts'

type Comparison = Exclude<Operator, 'and' | 'or'>

/** Long values are gone through in turns. */
export function* comparing(operator: Comparison, left: LiquidValue, right: LiquidValue, run: Run): Work<boolean> {
  if (operator === 'contains') return yield* containing(left, right, run)
  return compare(operator, left, right, run) ?? (yield* equaling(left, right, run)) === (operator === '==')
}

/** As `comparing`, at once; undefined where turns may be needed. */
export function compare(operator: Comparison, left: LiquidValue, right: LiquidValue, run: Run): boolean | undefined {
  switch (operator) {
    case '==':
    case '!=':
    case '<>': {
      const a = plain(left)
      const b = plain(right)
      return isList(a) && isList(b) ? undefined : equals(a, b, run) === (operator === '==')
    }
    case 'contains':
      return undefined
    default: {
      const sign = order(left, right, run)
      if (sign === undefined) return false
      if (operator === '<') return sign < 0
      if (operator === '>') return sign > 0
      return operator === '<=' ? sign <= 0 : sign >= 0
    }
  }
}
