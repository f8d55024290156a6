/** What a selector finds on all pages of the lists of a composed page (HTTP-59, ALL-3). */

import type { Authority, Key } from '../authority.ts'
import { cloning } from '../tree/clone.ts'
import { type Selector, selectingAll } from '../tree/selector/selector.ts'
import { mapping, type Steps } from '../tree/steps.ts'
import type { Representation } from './representation.ts'

/**
 * The elements about which a read of all matches asks beside those that it shows: one that is refused on some page refuses
 * every page.
 *
 * @returns in steps; none where no list is divided, since then all are shown
 */
export function* keysOnAllPages(
  view: Representation,
  path: string,
  selector: Selector,
  authority: Authority,
): Steps<Key[]> {
  const { undivided } = view.composition ?? {}
  if (!undivided || undivided.size === 0) return []
  const document = yield* cloning(view.tree, undefined, element => undivided.get(element) ?? element.childNodes)
  const readable = yield* authority.viewing(path, document)
  const found = yield* selectingAll(selector, readable.document)
  return yield* mapping(found, element => ({ element: readable.original(element), document }))
}
