/** Mutation events as writes word them (events.md section 3); the store gives them ids and keeps them. */

import type { Site } from '../site/site.ts'
import type { NewEvent, TreeEvents } from '../store/commit.ts'
import { contentTag } from '../store/tags.ts'

/** Who caused a write: echo suppression compares these with each stream (EVT-55). */
export interface Cause {
  session?: string
  token?: string
}

export interface Mutation {
  method: 'PUT' | 'POST' | 'DELETE' | 'MOVE'
  /** Empty when the whole document changed, or is to be fetched because of the change's size. */
  selector: string
  /** Quotes included; absent for DELETE. */
  etag?: string
  path: string
  /** Raw markup. */
  body: string
  placement?: string
  /** Anchor selector of an element move. */
  destination?: string
}

/**
 * A whole document travels in an event up to this size (EVT-25); bytes. Every subscriber gets it uncompressed, and it is kept
 * for those that come back; a larger one is had for less by fetching it, which is compressed and the same for all.
 */
const LARGEST_BODY = 64 * 1024

/** What is told of a change of elements, markup and selectors together; bytes: as much as may wait for a subscriber (EVT-37). */
const LARGEST_CHANGE = 1024 * 1024

function mayTravel(most: number, ...texts: readonly string[]): boolean {
  if (texts.reduce((sum, { length }) => sum + length, 0) > most) return false
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= most
}

/** The body of a whole-document event: documents that are small enough, nothing for others (EVT-25). */
export function wholeBody(text: string | undefined): string {
  return text !== undefined && mayTravel(LARGEST_BODY, text) ? text : ''
}

/**
 * What is told of a change of elements: all that it takes to make it as well or, where that is too large to travel, that the
 * document is to be fetched (EVT-25).
 */
export function elementMutation(mutation: Mutation): Mutation {
  const { selector, body, destination = '', ...rest } = mutation
  return mayTravel(LARGEST_CHANGE, selector, body, destination) ? mutation : { ...rest, selector: '', body: '' }
}

/** What stands before the body of an event, and nowhere else before it. */
const BODY = '  <div itemprop="body">'

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/**
 * The event of one mutation. Clients cut the payload with string functions, so order and spelling are part of the
 * interface (EVT-21).
 *
 * @param ns base URI of the vocabulary
 * @param host main host name of the site without port
 * @param facts of an event about elements: what delivery has to know of them (EVT-67)
 */
export function mutationEvent(ns: string, host: string, mutation: Mutation, cause: Cause, facts?: string): NewEvent {
  const span = (name: string, value: string) => `  <span itemprop="${name}">${escapeText(value)}</span>`
  const { method, selector, etag, path, body, placement, destination } = mutation
  let payload = `<article itemscope itemtype="${ns}/Mutation">\n${span('method', method)}\n${span('selector', selector)}\n`
  if (etag !== undefined) payload += `${span('etag', etag)}\n`
  payload += `${span('path', path)}\n${span('host', host)}\n${BODY}${body}</div>\n`
  if (placement !== undefined) payload += `${span('placement', placement)}\n`
  if (destination !== undefined) payload += `${span('destination', destination)}\n`
  const event: NewEvent = { path, payload: `${payload}</article>` }
  if (cause.session !== undefined) event.session = cause.session
  if (cause.token !== undefined) event.token = cause.token
  if (facts !== undefined) event.facts = facts
  return event
}

/**
 * The event of a document or blob that is put as a whole.
 *
 * @param text of the document
 */
export function putEvent(site: Site, path: string, digest: string, text: string | undefined, cause: Cause): NewEvent {
  const { ns, host } = site.settings
  const body = wholeBody(text)
  const mutation = { method: 'PUT' as const, selector: '', etag: contentTag(digest), path, body }
  const event = mutationEvent(ns, host, mutation, cause)
  if (body !== '') event.text = { start: event.payload.indexOf(BODY) + BODY.length, length: body.length }
  return event
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
    largestBody: LARGEST_BODY,
  }
}

export function deleteEvent(site: Site, path: string, cause: Cause) {
  return mutationEvent(site.settings.ns, site.settings.host, { method: 'DELETE', selector: '', path, body: '' }, cause)
}
