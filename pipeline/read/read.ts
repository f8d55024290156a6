/** Reads of the public surface: whole resources, elements by selector, byte ranges, other forms (HTTP-55 to HTTP-72). */

import type { Answer, Reuse } from '../answer.ts'
import type { Admission, Authority, Authorizing, Key, ReadableView } from '../authority.ts'
import type { Reader } from '../compose/reader.ts'
import { negotiate } from '../http/accept.ts'
import { cacheControl } from '../http/caching.ts'
import type { Conditions } from '../http/conditions.ts'
import { digestingText } from '../http/digest.ts'
import { directoryLocation, mayNameDirectory, NO_SCOPE } from '../http/path.ts'
import type { Range, SelectorRange } from '../http/range.ts'
import type { Registry } from '../model/registry.ts'
import type { Operation } from '../operation.ts'
import { absent, noMatch, requireAdmission, toSelector } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { notHtml, type StoredFile } from '../site/stored-file.ts'
import { contentTag } from '../store/tags.ts'
import type { ElementNode } from '../tree/nodes.ts'
import { type Selector, selectingAll, selectingFirst } from '../tree/selector/selector.ts'
import { mapping, type Steps } from '../tree/steps.ts'
import { keysOnAllPages } from './all-pages.ts'
import { type Dependencies, onDocument } from './dependencies.ts'
import {
  type Addressed,
  bytesOf,
  commonHeaders,
  conditional,
  fragmentAnswer,
  jsonLdAnswer,
  matchesAnswer,
  referredBy,
  writingView,
} from './elements.ts'
import {
  findFor,
  isComposed,
  linkingReadable,
  lookAt,
  lookAtSeen,
  type Representation,
  requireSound,
  routeHeaders,
  type Seen,
  storedPart,
  typeOf,
  viewingOf,
} from './representation.ts'
import { byGuards, byStandingRules } from './standing-rules.ts'
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
  /** Triggers of the site run before it, which may refuse it by who asks: no shared cache may give it again. */
  guarded?: boolean
  /** Origins of other sites are listed, so that answers differ by `Origin`. */
  cors: boolean
  /** Seconds for which browsers use assets without asking; absent: five minutes (HTTP-150). */
  assetSeconds?: number
  /** Name of the field by which a whole document tells the document part of its fragments' tags; absent: none does. */
  versionField?: string
}

/** A read with what was declared when it began: the reactions around it are those of then, whatever comes meanwhile. */
interface BegunRead extends Read {
  model: Registry
  reactions: object
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
 * GET and HEAD; the edge leaves out the body of a HEAD.
 *
 * @throws Fault 422 for a selector that does not parse (gate 7)
 */
export function readResource(site: Site, asked: Read, authority: Authorizing, reader?: Reader): Operation {
  const read: BegunRead = { ...asked, model: site.model, reactions: site.declarations('reactions') }
  const { range } = read
  if (range?.unit !== 'selector') return readWhole(site, read, authority, reader)
  const selector = toSelector(range.selector, site)
  return {
    async admit() {
      const decided = authority()
      const look = function* (seen: Seen) {
        const found = yield* searching(read, selector, seen, decided)
        return found && { view: found.view, elements: yield* shownElements(found) }
      }
      const found = await lookForElements(site, read, look, decided, reader)
      if (!found) await findAbsence(site, read, decided, reader)
      return found?.view ? { addressed: { view: found.view, elements: found.elements } } : {}
    },
    carryOut: (_body, guard) =>
      byStandingRules(site, authority, pathsOf(read), async decided => {
        const answer = await byGuards(guard, ask => {
          const look = function* (seen: Seen) {
            const found = yield* searching(read, selector, seen, decided)
            if (!found) return undefined
            ask(found.view, guard ? yield* shownElements(found) : found.elements)
            return yield* readElements(site, read, range, found, seen, decided)
          }
          return lookForElements(site, read, look, decided, reader)
        })
        return answer ?? absence(site, read, decided, reader)
      }),
  }
}

/** Whether no element of what is stored at the path could be read: it is as if nothing were there (COMP-5, ABS-1). */
function isOutOfReach({ path, head }: Read, authority: Authority, reader?: Reader): boolean {
  return reader !== undefined && authority.reach(head ? 'HEAD' : 'GET', path) === 'nothing'
}

/** Looks for elements in what serves the path. @returns undefined where none may be seen */
async function lookForElements<T>(
  site: Site,
  read: Read,
  look: (seen: Seen) => Steps<T | undefined>,
  authority: Authority,
  reader: Reader | undefined,
): Promise<T | undefined> {
  return isOutOfReach(read, authority, reader) ? undefined : lookAtSeen(site, read.path, look, reader)
}

function readWhole(site: Site, read: BegunRead, authority: Authorizing, reader: Reader | undefined): Operation {
  const { path } = read
  return {
    async admit() {
      const decided = authority()
      const found = isUnread(read, decided) ? undefined : await findFor(site, path, reader)
      if (!found) await findAbsence(site, read, decided, reader)
      return {}
    },
    carryOut: () => byStandingRules(site, authority, pathsOf(read), answerBy),
  }

  async function answerBy(decided: Authority): Promise<Answer> {
    const found = isUnread(read, decided) ? undefined : await findFor(site, path, reader)
    if (!found) return absence(site, read, decided, reader)
    const { file, params } = found
    const shared = decided.shareable(path)
    const jsonLd = file.kind === 'html' && negotiate(read.accept, false) === 'json-ld'
    if (jsonLd || isComposed(site, file, reader)) {
      const look = (seen: Seen) => readView(site, read, jsonLd, shared, seen, decided)
      const answer = await lookAt(site, path, look, reader)
      return answer ?? absence(site, read, decided, reader)
    }
    const whole = wholeAnswer(file, readingOf(site, read, params ? undefined : onDocument(file), decided, shared))
    const answer = file.isDocument
      ? withVersion(whole, read, () => storedPart(site, file))
      : withoutWorker(whole, file, decided)
    if (!params) return answer
    return { ...answer, headers: { ...answer.headers, ...routeHeaders(params) } }
  }
}

/** What a read is decided by. */
function pathsOf({ path, requested }: Read): string[] {
  return [path, requested, `${requested}/`]
}

/** The whole as JSON-LD or as it was put together, in steps. */
function* readView(
  site: Site,
  read: BegunRead,
  jsonLd: boolean,
  shared: boolean,
  { view }: Seen,
  authority: Authority,
): Steps<Answer> {
  if (!view) throw notHtml()
  requireSound(view)
  const reading = readingOf(site, read, view.dependencies, authority, shared && view.shared)
  if (jsonLd) return yield* jsonLdAnswer(view, undefined, reading, read.model)
  // It may have become a plain one meanwhile.
  const whole = view.composed ? yield* composedAnswer(view, reading) : wholeAnswer(view.file, reading)
  return withVersion(whole, read, view.documentPart)
}

/**
 * Lets whoever reads the whole know an event about it again: tags of elements share their document part, which cannot be
 * worked out from the bytes (HTTP-32, SEC-11).
 */
function withVersion(answer: Answer, { versionField }: Read, part: () => string): Answer {
  if (versionField === undefined || answer.status !== 200) return answer
  return { ...answer, headers: { ...answer.headers, [versionField]: part() } }
}

/**
 * A script of any visitor is no service worker: it would go on answering what others ask for in its folder, also when it
 * was removed (SEC-13).
 */
function withoutWorker(answer: Answer, { resource }: StoredFile, authority: Authority): Answer {
  if (!authority.takesFromAnybody(resource.path)) return answer
  return { ...answer, headers: { ...answer.headers, 'Service-Worker-Allowed': NO_SCOPE } }
}

function readingOf(
  site: Site,
  read: BegunRead,
  dependencies: Dependencies | undefined,
  authority: Authority,
  shared: boolean,
): Reading {
  const rules = dependencies && authority.repeatable(read.path, read.head)
  return { read, shared: shared && !read.guarded, reuse: rules && untilChanged(site, read, dependencies, rules) }
}

/**
 * Selectors, those of rules among them, may ask for types, of which schemas decide (COMP-138); a reaction that is new may
 * have something to say about the request (REA-5).
 *
 * @param begun what came since was not looked at
 * @param rules change whenever a rule of the site does
 */
function untilChanged(site: Site, begun: BegunRead, dependencies: Dependencies, rules: object): Reuse {
  const { model, reactions } = begun
  const isDeclared = () => site.rules === rules && site.model === model && site.declarations('reactions') === reactions
  return {
    holds: () => isDeclared() && dependencies.hold(site),
    get bytes() {
      return dependencies.bytes ?? 0
    },
  }
}

/** Whether the whole may not be read: it is as if nothing were there, and nothing is looked for (ABS-1). */
function isUnread({ path, head }: Read, authority: Authority): boolean {
  return authority.admit({ ask: 'read', path, exists: true, head }) === 'refuse'
}

/** Whether a path at which nothing is stored would be refused, whatever stands beside it. */
function isAbsenceRefused({ path, head, requested }: Read, authority: Authority): boolean {
  return mayNameDirectory(requested)
    ? [true, false].every(index => authority.admitDirectory(requested, index, head) === 'refuse')
    : authority.admit({ ask: 'read', path, exists: false, head }) === 'refuse'
}

/** HTTP-15 and ABS-1: nothing is stored at the path itself. @throws Fault 401 or 403 */
async function findAbsence(
  site: Site,
  read: Read,
  authority: Authority,
  reader: Reader | undefined,
): Promise<'redirect' | Admission> {
  const { requested } = read
  if (isAbsenceRefused(read, authority)) throw authority.refusal('GET', requested)
  const index = mayNameDirectory(requested) && (await findFor(site, `${requested}/index.html`, reader)) !== undefined
  const admission = mayNameDirectory(requested)
    ? authority.admitDirectory(requested, index, read.head)
    : authority.admit({ ask: 'read', path: read.path, exists: false, head: read.head })
  if (admission === 'redirect') return admission
  if (admission === 'refuse' || isUnread(read, authority)) throw authority.refusal('GET', requested)
  return admission
}

async function absence(site: Site, read: Read, authority: Authority, reader: Reader | undefined): Promise<Answer> {
  const { requested, query } = read
  const admission = await findAbsence(site, read, authority, reader)
  if (admission !== 'redirect') {
    requireAdmission(admission, 'GET', requested, authority)
    throw absent()
  }
  const headers = { Location: directoryLocation(requested, query), 'Cache-Control': cacheControl('redirect', true) }
  return { status: 301, headers, body: '' }
}

/** What a selector finds, and the form in which it is wanted. */
interface Matches {
  form: 'html' | 'json-ld' | 'multipart'
  /** In the form of one element the first match alone. */
  elements: ElementNode[]
  /** The elements that are asked about, on other pages of a list as well. */
  keys: Key[]
  admission: Admission
  /** Undefined for a blob. */
  view: Representation | undefined
  /** What may be seen; undefined for a blob. */
  readable: ReadableView | undefined
  /** What the selector was matched against, and has found there. */
  addressed: Addressed | undefined
}

/** Gate 8 of a read by selector, in steps. @returns undefined where nothing may be seen @throws Fault 401 or 403 */
function* searching(
  read: Read,
  selector: Selector,
  { file, view }: Seen,
  authority: Authority,
): Steps<Matches | undefined> {
  const { path, head, requested } = read
  const admitted = (matches: Matches): Matches | undefined => {
    if (matches.admission !== 'refuse') return matches
    if (matches.readable?.isBlank !== false) return undefined
    throw authority.refusal('GET', requested)
  }
  if (!view) {
    const admission = authority.admit({ ask: 'read', path, exists: true, head })
    return admitted({
      form: 'html',
      elements: [],
      keys: [],
      admission,
      view,
      readable: undefined,
      addressed: undefined,
    })
  }
  const document = view.tree
  const form = file.kind === 'html' ? negotiate(read.accept, true) : 'html'
  const readable = yield* viewingOf(authority, path, view)
  const first = form === 'html' ? yield* selectingFirst(selector, readable.document) : undefined
  const seen = form === 'html' ? (first ? [first] : []) : yield* selectingAll(selector, readable.document)
  const seesAll = readable.document === document
  const elements = seesAll ? seen : yield* mapping(seen, readable.original)
  const keys: Key[] = yield* mapping(elements, element => ({ element, document }))
  const others = form === 'html' ? [] : yield* keysOnAllPages(view, path, selector, authority)
  const asking = (about: Key[]) => authority.admitting({ ask: 'read-elements', path, exists: true, head, keys: about })
  const isRefused = others.length > 0 && (yield* asking(others)) === 'refuse'
  const admission = isRefused ? 'refuse' : yield* asking(keys)
  const copies = new Map<ElementNode, ElementNode>()
  if (!seesAll) yield* mapping(seen, copy => copies.set(readable.original(copy), copy))
  const addressed = { document: readable.document, copyOf: (element: ElementNode) => copies.get(element) ?? element }
  return admitted({ form, elements, keys: [...keys, ...others], admission, view, readable, addressed })
}

/** The elements that an answer is about, for triggers and processors: as JSON-LD those that its items refer to as well. */
function* shownElements({ form, elements, readable }: Matches): Steps<readonly ElementNode[]> {
  if (form !== 'json-ld' || !readable) return elements
  return [...elements, ...(yield* referredBy(elements, readable.isReadable))]
}

/** In steps. @returns undefined where nothing may be seen */
function* readElements(
  site: Site,
  read: BegunRead,
  range: SelectorRange,
  found: Matches,
  seen: Seen,
  authority: Authority,
): Steps<Answer> {
  const { form, elements, keys, admission, readable, addressed } = found
  requireAdmission(admission, 'GET', read.requested, authority)
  if (!seen.view || !readable || !addressed) throw notHtml()
  const view = linkingReadable(seen.view, readable.isReadable)
  const [first] = elements
  if (!first) throw noMatch()
  // Whether all of a page is the same for everybody is not for those to know who may see a part (SEC-6).
  const seesAll = readable.document === view.tree
  const shared = seesAll && view.shared && (yield* authority.sharing(read.path, keys))
  const reading = readingOf(site, read, view.dependencies, authority, shared)
  if (form === 'html') return yield* fragmentAnswer(first, view, range, reading)
  if (form === 'json-ld') {
    const selected = { range, elements, mayRefer: readable.isReadable }
    return yield* jsonLdAnswer(view, selected, reading, read.model)
  }
  return yield* matchesAnswer(view, elements, range, reading, addressed)
}

/** 200 with a whole page that was put together for its reader, or 304 (COMP-10, COMP-124, COMP-125); in steps. */
function* composedAnswer(view: Representation, reading: Reading): Steps<Answer> {
  const text = yield* writingView(view)
  const tag = contentTag(yield* digestingText(text))
  const headers = commonHeaders(view, reading, tag)
  const reuse = reading.reuse && { reuse: reading.reuse }
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return { ...unchanged, ...reuse }
  headers['Content-Type'] = typeOf(view)
  return { status: 200, headers, body: yield* bytesOf(text), ...reuse }
}
