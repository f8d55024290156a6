/** QUERY with a CSS selector on one document, as the public host answers it (HTTP-130 to HTTP-132). */

import type { Answer } from '../answer.ts'
import type { Authority, Authorizing, Key } from '../authority.ts'
import { type BodySource, LARGEST_QUERY } from '../body.ts'
import type { Reader } from '../compose/reader.ts'
import { Fault } from '../fault.ts'
import { excludes } from '../http/accept.ts'
import { writingMultipart } from '../http/multipart.ts'
import { taggingMatches } from '../http/tags.ts'
import type { AddressedElements, Operation } from '../operation.ts'
import { absent, refuseForbidden, refuseUnseen, requireAllowed, toSelector } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { notHtml, type StoredFile } from '../site/stored-file.ts'
import { trimmed } from '../tree/ascii.ts'
import type { ElementNode } from '../tree/nodes.ts'
import { type Selector, selectingAll } from '../tree/selector/selector.ts'
import { mapping, type Steps } from '../tree/steps.ts'
import { keysOnAllPages } from './all-pages.ts'
import { bodyText } from './body-text.ts'
import { commonHeaders, conditional, elementParts } from './elements.ts'
import type { Read } from './read.ts'
import { findFor, lookAt, type Representation, requireSound, type Seen } from './representation.ts'
import { byGuards, byStandingRules } from './standing-rules.ts'

/**
 * @returns answers 200 with a part for every match, or 304; the body holds the selector, and is read once everything
 *   before it is passed
 */
export function queryDocument(site: Site, read: Read, authority: Authorizing, reader?: Reader): Operation {
  const { path, requested } = read
  return {
    async admit(body) {
      refuseUnseen(authority(), { ask: 'read', path }, 'GET', requested)
      const file = (await findFor(site, path, reader))?.file
      refuseForbidden(authority(), { ask: 'read', path, exists: file !== undefined }, 'GET', requested)
      // Read whatever is stored, and told behind the triggers where it is none: they may keep that from the requester.
      const selector = await readSelector(site, body).then(({ selector }) => selector, unlessFault)
      if (!selector || !file?.isDocument) return {}
      const decided = authority()
      const look = ({ view }: Seen) => addressing(read, selector, view, decided)
      return { addressed: await lookAt(site, path, look, reader) }
    },
    async carryOut(body, guard) {
      const document = (file: StoredFile | undefined, decided: Authority): void => {
        requireAllowed(decided, { ask: 'read', path, exists: file !== undefined }, 'GET', requested)
        if (!file) throw absent()
        if (!file.isDocument) throw notHtml()
      }
      const first = authority()
      refuseUnseen(first, { ask: 'read', path }, 'GET', requested)
      document((await findFor(site, path, reader))?.file, first)
      const { text, selector } = await readSelector(site, body)
      return byStandingRules(site, authority, [path, requested], async decided => {
        refuseUnseen(decided, { ask: 'read', path }, 'GET', requested)
        // The document may have changed while the body was on its way.
        const answer = await byGuards(guard, ask => {
          const look = function* ({ file, view }: Seen) {
            document(file, decided)
            if (!view) throw notHtml()
            const matches = yield* matching(read, selector, view, decided)
            ask(view, matches.elements)
            return yield* answering(read, text, view, matches, decided)
          }
          return lookAt(site, path, look, reader)
        })
        if (!answer) throw absent()
        return answer
      })
    },
  }
}

/** @throws what is no fault of the request */
function unlessFault(failure: unknown): undefined {
  if (!(failure instanceof Fault)) throw failure
}

/** @throws Fault 422 for a body that holds no selector, or none that parses */
async function readSelector(site: Site, body: BodySource): Promise<{ text: string; selector: Selector }> {
  const text = trimmed(await bodyText(body, LARGEST_QUERY))
  if (text === '') throw new Fault(422, 'EmptyBody', 'The body must hold a CSS selector.')
  return { text, selector: toSelector(text, site) }
}

/** `matching` in what is seen; undefined for a blob. */
function* addressing(
  read: Read,
  selector: Selector,
  view: Representation | undefined,
  authority: Authority,
): Steps<AddressedElements | undefined> {
  return view && { view, elements: (yield* matching(read, selector, view, authority)).elements }
}

/** Gate 8 for the elements, in steps. @throws Fault 401 or 403 */
function* matching(
  { path, requested }: Read,
  selector: Selector,
  view: Representation,
  authority: Authority,
): Steps<{ elements: ElementNode[]; keys: Key[] }> {
  requireSound(view)
  const document = view.tree
  const elements = yield* selectingAll(selector, document)
  const shown: Key[] = yield* mapping(elements, element => ({ element, document }))
  const keys = [...shown, ...(yield* keysOnAllPages(view, path, selector, authority))]
  const question = { ask: 'read-elements', path, exists: true, keys } as const
  if (keys.length > 0 && (yield* authority.admitting(question)) === 'refuse') throw authority.refusal('GET', requested)
  return { elements, keys }
}

/** In steps. */
function* answering(
  read: Read,
  text: string,
  view: Representation,
  { elements, keys }: { elements: ElementNode[]; keys: Key[] },
  authority: Authority,
): Steps<Answer> {
  const { path } = read
  if (excludes(read.accept, 'multipart/mixed'))
    throw new Fault(406, 'NotAcceptable', 'A query is answered as multipart/mixed only.')
  const { parts, places } = yield* elementParts(view, elements)
  const tag = yield* taggingMatches(text, places)
  const shared = view.shared && !read.guarded && (yield* authority.sharing(path, keys))
  const reading = { read, shared, reuse: undefined }
  const headers = commonHeaders(view, reading, tag)
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return unchanged
  const { contentType, body } = yield* writingMultipart(parts)
  return { status: 200, headers: { ...headers, 'Content-Type': contentType }, body }
}
