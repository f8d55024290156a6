/** `include`: a copy of one element of the site (COMP-25 to COMP-30). */

import { resolvePath } from '../language/sessel/paths.ts'
import { withoutValues } from '../language/told.ts'
import type { Site } from '../site/site.ts'
import { trimmed, wordsOf } from '../tree/ascii.ts'
import { attribute } from '../tree/nodes.ts'
import { type Selector, SelectorError, selectorFor } from '../tree/selector/selector.ts'
import type { Dispatch, Surroundings } from './composing.ts'
import { compositionError } from './failure.ts'
import { type Splice, spliceOf } from './splice.ts'
import type { Work } from './work.ts'

/** @throws Fault 404 where nothing matches, 500 where several elements do or the selector is unusable */
export function* including({ composing, element, place }: Dispatch): Work<Splice[]> {
  const { graph, site } = composing
  const text = trimmed(attribute(element, 'selector') ?? '')
  if (text === '') throw compositionError('An include needs a selector.')
  const { file } = place.holder
  const selector = authorsSelector(site, text, 'include', place)
  const resource = attribute(element, 'resource')
  const globs = resource === undefined ? undefined : wordsOf(resource)
  const found = yield* graph.select(
    selector,
    composing.allowance,
    globs?.map(glob => absolute(glob, file.resource.path)),
  )
  const [first, second] = found
  const told = () => withoutValues(`“${text}”`, ...authorsTexts(place))
  if (!first) throw compositionError(`An include finds no element ${told()}.`, 404)
  if (second) throw compositionError(`The selector of an include matches more than one element: ${told()}.`)
  return spliceOf(first, composing.allowance)
}

/** A glob that does not begin with a slash is taken from the directory of the document that holds it, as in `from` (SES-125). */
function absolute(glob: string, path: string): string {
  return glob.startsWith('/') ? glob : resolvePath(path, glob)
}

/**
 * A selector that stands in a page.
 *
 * @param directive that it belongs to, for the message
 * @param place where it stands
 * @throws Fault 500 (COMP-131)
 */
export function authorsSelector(
  site: Pick<Site, 'selectors'>,
  text: string,
  directive: string,
  place: Surroundings,
): Selector {
  try {
    return selectorFor(text, site.selectors)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    const told = withoutValues(error.message, ...authorsTexts(place))
    throw compositionError(`The selector of ${directive} cannot be used: ${told}.`)
  }
}

/**
 * Texts of which a directive may be told. What a template has put into it is not, though it may stand elsewhere in the page, where
 * visitors have written what they guess (COMP-148).
 */
function authorsTexts({ page, holder }: Surroundings): readonly string[] {
  return page ? [page.search.source] : holder.templates.map(({ source }) => source)
}
