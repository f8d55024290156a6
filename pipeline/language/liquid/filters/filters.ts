/** All filters by name; there are no others (LIQ-26, LIQ-38). */

import type { LiquidValue } from '../values.ts'
import type { Work } from '../work.ts'
import { ARRAY_FILTERS } from './arrays.ts'
import type { FilterCall } from './call.ts'
import { DATA_FILTERS } from './data.ts'
import { DATE_FILTERS } from './dates.ts'
import { NUMBER_FILTERS } from './numbers.ts'
import { PREDICATE_FILTERS } from './predicates.ts'
import { SECRET_FILTERS, SECRET_WORK_FILTERS } from './secrets.ts'
import { STRING_FILTERS, STRING_WORK_FILTERS } from './strings.ts'

/** One of the two is there. */
export interface Filter {
  now?: (call: FilterCall) => LiquidValue
  work?: (call: FilterCall) => Work<LiquidValue>
}

export const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ...[STRING_FILTERS, NUMBER_FILTERS, DATE_FILTERS, SECRET_FILTERS].flatMap(filters =>
    Object.entries(filters).map(([name, now]): [string, Filter] => [name, { now }]),
  ),
  ...[ARRAY_FILTERS, STRING_WORK_FILTERS, PREDICATE_FILTERS, DATA_FILTERS, SECRET_WORK_FILTERS].flatMap(filters =>
    Object.entries(filters).map(([name, work]): [string, Filter] => [name, { work }]),
  ),
])
