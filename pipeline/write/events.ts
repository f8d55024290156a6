/** Events of whole documents that came, changed or went. */

import { type Cause, LARGEST_WHOLE_BODY, type Mutation, mutationEvent, wholeBody } from '../events/mutation.ts'
import type { Site } from '../site/site.ts'
import type { TreeEvents } from '../store/commit.ts'
import { contentTag } from '../store/tags.ts'

export function putEvent(site: Site, path: string, digest: string, text: string | undefined, cause: Cause) {
  const { ns, host } = site.settings
  const mutation = { method: 'PUT' as const, selector: '', etag: contentTag(digest), path, body: wholeBody(text) }
  return mutationEvent(ns, host, mutation, cause)
}

/** Stands where events of whole trees are cut: it occurs in nothing that surrounds the places. */
const CUT = '\0'

/** Events of all files of a collection that goes somewhere, for the store to complete (EVT-28). */
export function treeEvents(site: Site, cause: Cause): TreeEvents {
  const { ns, host } = site.settings
  const whole = { selector: '', path: CUT }
  const cut = (mutation: Mutation) => mutationEvent(ns, host, mutation, cause).payload.split(CUT)
  const [beforeGone = '', afterGone = ''] = cut({ ...whole, method: 'DELETE', body: '' })
  const [beforeTag = '', beforePath = '', beforeBody = '', end = ''] = cut({
    ...whole,
    method: 'PUT',
    etag: `"${CUT}"`,
    body: CUT,
  })
  return {
    gone: { ...cause, around: [beforeGone, afterGone] },
    come: { ...cause, around: [beforeTag, beforePath, beforeBody, end] },
    largestBody: LARGEST_WHOLE_BODY,
  }
}

export function deleteEvent(site: Site, path: string, cause: Cause) {
  return mutationEvent(site.settings.ns, site.settings.host, { method: 'DELETE', selector: '', path, body: '' }, cause)
}
