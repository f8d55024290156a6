/** Events of whole documents that came, changed or went. */

import { type Cause, mutationEvent, wholeBody } from './events/mutation.ts'
import type { Site } from './site.ts'
import { contentTag } from './store/tags.ts'

export function putEvent(site: Site, path: string, digest: string, text: string | undefined, cause: Cause) {
  const { ns, host } = site.settings
  const mutation = { method: 'PUT' as const, selector: '', etag: contentTag(digest), path, body: wholeBody(text) }
  return mutationEvent(ns, host, mutation, cause)
}

export function deleteEvent(site: Site, path: string, cause: Cause) {
  return mutationEvent(site.settings.ns, site.settings.host, { method: 'DELETE', selector: '', path, body: '' }, cause)
}
