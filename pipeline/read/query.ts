/** QUERY with a CSS selector on one document, as the public host answers it (HTTP-130 to HTTP-132). */

import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import { Fault } from '../fault.ts'
import { excludes } from '../http/accept.ts'
import { writingMultipart } from '../http/multipart.ts'
import { taggingMatches } from '../http/tags.ts'
import { absent, requireAllowed, toSelector } from '../refusals.ts'
import { type Held, notHtml } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import { type Selector, selectingAll } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import { commonHeaders, conditional, elementParts } from './elements.ts'
import type { Read } from './read.ts'
import { lookAt, type Representation } from './representation.ts'

/**
 * @param readText reads the selector from the body of the request, once everything before it is settled
 * @returns 200 with a part for every match, or 304
 * @throws Fault 401, 403, 404, 406, 422
 */
export async function queryDocument(
  site: Site,
  read: Read,
  readText: () => Promise<string>,
  authority: Authority,
): Promise<Answer> {
  const { path } = read
  const settle = (held: Held | undefined): Held => {
    requireAllowed(authority.admit({ ask: 'read', path, exists: held !== undefined }), 'GET', read.requested, authority)
    if (!held) throw absent()
    if (!held.isDocument) throw notHtml()
    return held
  }
  settle(await site.find(path))
  const text = (await readText()).trim()
  if (text === '') throw new Fault(422, 'EmptyBody', 'The body must hold a CSS selector.')
  const selector = toSelector(text, site)
  // The document may have changed while the body was on its way.
  const answer = await lookAt(site, path, ({ held, view }) => {
    settle(held)
    if (!view) throw notHtml()
    return answering(read, text, selector, view, authority)
  })
  if (!answer) throw absent()
  return answer
}

/** In steps. */
function* answering(
  read: Read,
  text: string,
  selector: Selector,
  view: Representation,
  authority: Authority,
): Steps<Answer> {
  const { path } = read
  const document = view.tree
  const elements = yield* selectingAll(selector, document)
  const keys = elements.map(element => ({ element, document }))
  if (keys.length > 0)
    requireAllowed(
      authority.admit({ ask: 'read-elements', path, exists: true, keys }),
      'GET',
      read.requested,
      authority,
    )
  if (excludes(read.accept, 'multipart/mixed'))
    throw new Fault(406, 'NotAcceptable', 'A query is answered as multipart/mixed only.')
  const { parts, places } = yield* elementParts(view, elements)
  const tag = yield* taggingMatches(text, places)
  const reading = { read, shared: view.shared && authority.shareable(path, keys), reuse: undefined }
  const headers = commonHeaders(view, reading, tag)
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return unchanged
  const { contentType, body } = yield* writingMultipart(parts)
  return { status: 200, headers: { ...headers, 'Content-Type': contentType }, body }
}
