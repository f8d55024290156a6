/** What a document has to hold for a selector to find something in it. */

import type { Selector } from '../../tree/selector/selector.ts'
import type { Needs } from './host.ts'

/** Until documents are known by what they hold, any may hold anything. */
const ANYTHING: Needs = [[]]

export function neededTokens(_selector: Selector): Needs {
  return ANYTHING
}
