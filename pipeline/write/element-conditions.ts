/** Conditions of writes to elements: they tell nothing of what their sender may not read (SEC-6, SEC-11). */

import type { Authority, Key, Question } from '../authority.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { fragmentTag, tellingFragment } from '../http/tags.ts'
import type { Origin, Representation } from '../read/representation.ts'
import { writingStretches } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { composedTag } from './page-tag.ts'

/** What a requester may know of a document by its tags. */
export type Known = 'everything' | 'target' | 'nothing'

/**
 * HTTP-37 and HTTP-38 for selector writes. Whoever may not read the element or the document is told nothing of them by
 * tags or dates: neither a guess is confirmed, nor does a failure name what is there (SEC-6).
 */
export function* checkingConditions(
  conditions: Conditions,
  view: Representation,
  target: Key,
  known: Known,
  isKnown: IsKnown,
): Steps<void> {
  const fragment = yield* tellingFragment(yield* writingStretches(target.element, target.document.kind))
  const documentPart = view.documentPart()
  const all = known === 'everything'
  const origin = view.originOf(target.element)
  const { resource, tag } = origin?.file ?? view.file
  const tags = all && (!view.composed || isKnown(resource.path)) ? [tag] : []
  if (all && view.composed) tags.push(yield* composedTag(view))
  const fragmentParts = known === 'nothing' ? [] : [fragment]
  // Of a composed page the element as it is stored counts as well (HTTP-32).
  if (known !== 'nothing' && view.composed && origin && isKnown(resource.path, origin))
    fragmentParts.push(yield* tellingFragment(yield* writingStretches(origin.element, origin.tree.kind)))
  const verdict = evaluateWrite(conditions, {
    exists: true,
    tags,
    documentParts: [documentPart],
    fragmentParts,
    ...(all && !view.composed && { lastModified: resource.modified, sameSecond: resource.sameSecond }),
  })
  if (verdict !== 'proceed')
    throw preconditionFailed(known === 'nothing' ? undefined : fragmentTag(fragment, documentPart), true)
}

/** Whether a requester may know what is stored at a path, or of an element there. */
type IsKnown = (path: string, origin?: Origin) => boolean

/** Pages show parts of documents to those who may not read these themselves (COMP-91, SEC-6). */
export function mayKnow(authority: Authority, page: string): IsKnown {
  const question = (path: string, origin: Origin | undefined): Question => {
    if (!origin) return { ask: 'read', path, exists: true }
    const keys = [{ element: origin.element, document: origin.tree }]
    return { ask: 'read-elements', path, exists: true, keys }
  }
  return (path, origin) => path === page || authority.admit(question(path, origin)) === 'allow'
}
