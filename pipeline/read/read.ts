/** Reads of the public surface: whole resources, elements by selector, byte ranges, other forms (HTTP-55 to HTTP-72). */

import type { Answer, Reuse } from '../answer.ts'
import type { Authority, Key } from '../authority.ts'
import { negotiate } from '../http/accept.ts'
import { cacheControl } from '../http/caching.ts'
import type { Conditions } from '../http/conditions.ts'
import { directoryLocation, mayNameDirectory } from '../http/path.ts'
import type { Range, SelectorRange } from '../http/range.ts'
import { absent, noMatch, requireAllowed, toSelector } from '../refusals.ts'
import { notHtml } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import { type Selector, selectingAll, selectingFirst } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import { type Dependencies, onDocument } from './dependencies.ts'
import { fragmentAnswer, jsonLdAnswer, matchesAnswer } from './elements.ts'
import { lookAt, type Seen } from './representation.ts'
import { wholeAnswer } from './whole.ts'

export interface Read {
  /** Canonical path: that of the index for a directory. */
  path: string
  /** The path as requested, decoded. */
  requested: string
  /** HEAD instead of GET: rules of its own may decide it (METH-2). */
  head: boolean
  /** Raw query without `?`. */
  query?: string
  range: Range | undefined
  accept: string | undefined
  acceptEncoding: string | undefined
  conditions: Conditions | undefined
  ifRange: string | undefined
  /** The answer will set the session cookie, unless it is that of a blob (HTTP-151). */
  setsCookie: boolean
  /** Origins of other sites are listed, so that answers differ by `Origin`. */
  cors: boolean
}

/** What the makers of answers need to know beside the resource. */
export interface Reading {
  read: Read
  /** The same for every anonymous visitor, so shared caches may keep it (HTTP-150). */
  shared: boolean
  /** May be repeated for other requests with the same fields. */
  reuse: Answer['reuse']
}

/**
 * Answers GET and HEAD; the edge leaves out the body of a HEAD.
 *
 * @throws Fault with the answer of the first gate that fails (HTTP-1, gates 8 to 12)
 */
export async function readResource(site: Site, read: Read, authority: Authority): Promise<Answer> {
  const { path, range } = read
  // A selector that does not parse is told before anything is looked for (gate 7).
  const selector = range?.unit === 'selector' ? toSelector(range.selector, site) : undefined
  if (range?.unit === 'selector' && selector) {
    const answer = await lookAt(site, path, seen => readElements(site, read, range, selector, seen, authority))
    return answer ?? absence(site, read, authority)
  }
  const held = await site.find(path)
  if (!held) return absence(site, read, authority)
  requireAllowed(
    authority.admit({ ask: 'read', path, exists: true, head: read.head }),
    'GET',
    read.requested,
    authority,
  )
  const shared = authority.shareable(path)
  if (held.kind === 'html' && negotiate(read.accept, false) === 'json-ld') {
    const answer = await lookAt(site, path, ({ view }) => {
      if (!view) throw notHtml()
      const reading = readingOf(site, read, view.dependencies, authority, shared && view.shared)
      return jsonLdAnswer(view, undefined, reading, site.settings.ns)
    })
    return answer ?? absence(site, read, authority)
  }
  const reading = readingOf(site, read, onDocument(held), authority, shared)
  return wholeAnswer(held, reading)
}

function readingOf(site: Site, read: Read, dependencies: Dependencies, authority: Authority, shared: boolean): Reading {
  const rules = authority.repeatable(read.path)
  return { read, shared, reuse: rules && untilChanged(site, dependencies, rules) }
}

/**
 * Selectors, those of rules among them, may ask for types, of which schemas decide (COMP-138).
 *
 * @param rules change whenever a rule of the site does
 */
function untilChanged(site: Site, dependencies: Dependencies, rules: object): Reuse {
  const { model } = site
  return { holds: () => site.rules === rules && site.model === model && dependencies.hold(site) }
}

/** HTTP-15 and ABS-1: nothing is stored at the path itself. */
async function absence(site: Site, read: Read, authority: Authority): Promise<Answer> {
  const { requested, query } = read
  const index = mayNameDirectory(requested) && (await site.find(`${requested}/index.html`)) !== undefined
  const outcome = mayNameDirectory(requested)
    ? authority.admitDirectory(requested, index)
    : authority.admit({ ask: 'read', path: read.path, exists: false, head: read.head })
  if (outcome !== 'redirect') {
    requireAllowed(outcome, 'GET', requested, authority)
    throw absent()
  }
  const headers = { Location: directoryLocation(requested, query), 'Cache-Control': cacheControl('redirect', true) }
  return { status: 301, headers, body: '' }
}

/** In steps. */
function* readElements(
  site: Site,
  read: Read,
  range: SelectorRange,
  selector: Selector,
  { held, view }: Seen,
  authority: Authority,
): Steps<Answer> {
  const { path } = read
  if (!view) {
    requireAllowed(
      authority.admit({ ask: 'read', path, exists: true, head: read.head }),
      'GET',
      read.requested,
      authority,
    )
    throw notHtml()
  }
  const document = view.tree
  const form = held.kind === 'html' ? negotiate(read.accept, true) : 'html'
  const readable = yield* authority.viewing(path, document)
  const seen = form === 'html' ? yield* selectingFirst(selector, readable.document) : undefined
  const first = seen && readable.original(seen)
  const every = form === 'html' ? [] : yield* selectingAll(selector, readable.document)
  const found = form === 'html' ? (first ? [first] : []) : every.map(readable.original)
  const keys: Key[] = found.map(element => ({ element, document }))
  requireAllowed(
    authority.admit({ ask: 'read-elements', path, exists: true, head: read.head, keys }),
    'GET',
    read.requested,
    authority,
  )
  if (found.length === 0) throw noMatch()
  const shared = view.shared && authority.shareable(path, keys)
  const reading = readingOf(site, read, view.dependencies, authority, shared)
  if (first) return yield* fragmentAnswer(first, view, range, reading)
  if (form === 'json-ld') {
    const selected = { range, elements: found, mayRefer: readable.isReadable }
    return yield* jsonLdAnswer(view, selected, reading, site.settings.ns)
  }
  return yield* matchesAnswer(view, found, range, reading)
}
