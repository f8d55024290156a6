/** JSON text of values (LIQ-48). */

import { writingJson } from '../json.ts'
import { countArgument, type FilterCall, fail, type WorkFilters } from './call.ts'

/** Blanks for each level. */
const MAX_INDENT = 16

export const DATA_FILTERS: WorkFilters = {
  json: call => writingJson(call.input, indentOf(call), call.run),
  jsonify: call => writingJson(call.input, indentOf(call), call.run),
  inspect: call => writingJson(call.input, 0, call.run),
}

function indentOf(call: FilterCall): number {
  const indent = countArgument(call, 0, 0)
  if (indent < 0 || indent > MAX_INDENT) throw fail(call, `the indent is not in 0 to ${MAX_INDENT}.`)
  return indent
}
