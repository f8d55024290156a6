/** Writes to elements of documents: PUT, POST, DELETE by selector and MOVE between places (HTTP-80 to HTTP-109). */

import type { Answer } from '../answer.ts'
import type { Authority, Key, Question } from '../authority.ts'
import { transientAround } from '../compose/transient.ts'
import { changedElements, elementFacts } from '../events/facts.ts'
import { type Cause, mutationEvent } from '../events/mutation.ts'
import { eventSelector } from '../events/selector.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { formatHttpDate } from '../http/http-date.ts'
import { servedType } from '../http/media.ts'
import { type DestinationRange, type SelectorRange, selectorContentRange } from '../http/range.ts'
import { fragmentPart, fragmentTag } from '../http/tags.ts'
import { newFailures } from '../model/judge.ts'
import { lookAt } from '../read/representation.ts'
import { absent, noMatch, requireAllowed, toSelector } from '../refusals.ts'
import { editNotice } from '../site/followed-edits.ts'
import { type Held, notHtml } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import { contentTag } from '../store/tags.ts'
import { decode } from '../tree/document.ts'
import { ChangedDocument, type Edit, type Placement } from '../tree/edit/edit.ts'
import { type ElementNode, parentElement, type TreeDocument } from '../tree/nodes.ts'
import { type Selector, selectingFirst } from '../tree/selector/selector.ts'
import { writingMarkup } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { commitJudged, commitLoop, type Judging, type ModelState, modelState } from './commit.ts'
import { checkingConfiguration } from './configuration.ts'
import { type Consequences, consequencesOf } from './consequences.ts'
import { checkContainment } from './containment.ts'
import { type Draft, draftEdit, redraft } from './draft-edit.ts'
import { putEvent } from './events.ts'
import { newVersion } from './prepared.ts'

interface ElementWriteBase extends Judging {
  /** Canonical path of the document. */
  path: string
  conditions: Conditions | undefined
  cause: Cause
  /** A further check inside the commit; it throws a Fault. */
  check?: () => Promise<void>
}

export type ElementWrite = ElementWriteBase &
  (
    | { op: 'put'; range: SelectorRange; text: () => Promise<string> }
    | { op: 'post'; range: SelectorRange; placement: Placement; text: () => Promise<string> }
    | { op: 'delete'; range: SelectorRange }
    | { op: 'move'; range: SelectorRange; destination: DestinationRange }
  )

/** A document with the elements a write is about, as found in one version and decided under one set of rules. */
interface Located {
  held: Held
  tree: TreeDocument
  target: Key
  /** Of a move. */
  anchor?: Key
  accessVersion: number
  /** What the requester may know of the document by its tags (SEC-6, SEC-11). */
  known: 'everything' | 'target' | 'nothing'
}

/** Selectors of a write, compiled once. */
interface Selectors {
  target: Selector
  anchor?: Selector
}

/**
 * Writes one element of a stored document.
 *
 * @returns 206 with the new element, or 204 (HTTP-81)
 * @throws Fault with the answer of the first gate that fails (HTTP-1, gates 8 to 13); then nothing was changed
 */
export async function writeElement(site: Site, write: ElementWrite, authority: () => Authority): Promise<Answer> {
  const selectors: Selectors = { target: toSelector(write.range.selector, site) }
  if (write.op === 'move') selectors.anchor = toSelector(write.destination.selector, site)
  let located = await locate(site, write, selectors, authority())
  const text = write.op === 'put' || write.op === 'post' ? await write.text() : ''
  return site.leases.hold(site.store.name, [write.path], () =>
    commitLoop(async () => {
      await write.check?.()
      if (!isCurrent(site, write.path, located)) located = await locate(site, write, selectors, authority())
      try {
        return await commitEdit(site, write, located, text, authority())
      } catch (error) {
        // The lease was lost, and memory has followed whoever had it then.
        if (error instanceof ChangedDocument) return undefined
        throw error
      }
    }),
  )
}

function isCurrent(site: Site, path: string, located: Located): boolean {
  return (
    site.held(path) === located.held &&
    located.held.hasTree &&
    located.held.tree === located.tree &&
    site.accessVersion === located.accessVersion
  )
}

/** Gates 8 and 10 to 12: finds the elements in the newest version, decides, and checks preconditions. */
async function locate(site: Site, write: ElementWrite, selectors: Selectors, authority: Authority): Promise<Located> {
  const located = await lookAt(site, write.path, ({ held }) => locating(site, write, selectors, held, authority))
  if (located) return located
  requireAllowed(authority.admit(questionOf(write, 'nothing')), write.op.toUpperCase(), write.path, authority)
  throw absent()
}

/** In steps. */
function* locating(
  site: Site,
  write: ElementWrite,
  selectors: Selectors,
  held: Held,
  authority: Authority,
): Steps<Located> {
  const accessVersion = site.accessVersion
  const { path, op } = write
  const tree = held.isDocument ? site.tree(held) : undefined
  const view = tree && (yield* authority.viewing(path, tree))
  const find = function* (selector: Selector | undefined): Steps<Key | undefined> {
    if (!tree || !view || !selector) return undefined
    const element = yield* selectingFirst(selector, view.document)
    return element && { element: view.original(element), document: tree }
  }
  const target = yield* find(selectors.target)
  const anchor = yield* find(selectors.anchor)
  const outcome = authority.admit(questionOf(write, tree ? 'document' : 'blob', target, anchor))
  // The kind of the resource is a gate before the match (HTTP-1, gates 10 and 11).
  if (outcome !== 'no-match') requireAllowed(outcome, op.toUpperCase(), path, authority)
  if (!tree || !view) throw notHtml()
  if (held.profile?.utf8 === false)
    throw new Fault(
      422,
      'InvalidFragment',
      'The document is not valid UTF-8; its elements cannot be written one by one.',
    )
  if (!target || (op === 'move' && !anchor)) throw noMatch()
  refuseTransient(site, write, target, anchor)
  const known = view.document === tree ? 'everything' : view.isReadable(target.element) ? 'target' : 'nothing'
  const located: Located = { held, tree, target, ...(anchor && { anchor }), accessVersion, known }
  if (write.conditions) yield* checkingConditions(site, write.conditions, located)
  return located
}

function questionOf(
  write: ElementWrite,
  stored: 'document' | 'blob' | 'nothing',
  target?: Key,
  anchor?: Key,
): Question {
  const { path, op } = write
  const exists = stored !== 'nothing'
  if (op === 'move')
    return { ask: 'move-element', path, exists, source: target, anchor, placement: write.destination.placement }
  // A blob has no place beside an element either: who may POST there learns that, as for any other placement (HTTP-22).
  const placed = op === 'post' && stored !== 'blob' ? { placement: write.placement } : {}
  return { ask: `${op}-element`, path, exists, target, ...placed }
}

/**
 * What a visitor makes of a transient element is for that visitor alone (COMP-74), so it must not be stored for all.
 *
 * @throws Fault 405 for a MOVE (COMP-76), else 501
 */
function refuseTransient(site: Site, write: ElementWrite, target: Key, anchor: Key | undefined): void {
  const { ns } = site.settings
  const isBeside = (placement: Placement | undefined) => placement !== undefined && isSibling(placement)
  const marked = ({ element }: Key, beside: boolean) => {
    const outermost = transientAround(element, ns)
    return outermost !== undefined && !(beside && outermost === element)
  }
  if (write.op === 'move') {
    if (marked(target, false) || (anchor && marked(anchor, isBeside(write.destination.placement))))
      throw new Fault(405, 'MethodNotAllowed', 'Transient elements cannot be moved.', {
        headers: { Allow: 'GET, HEAD, PUT, POST, DELETE, OPTIONS, QUERY' },
      })
  } else if (marked(target, write.op === 'post' && isBeside(write.placement)))
    throw new Fault(501, 'NotImplemented', 'Elements that each visitor has a version of cannot be written yet.')
}

/**
 * HTTP-37 and HTTP-38 for selector writes. Whoever may not read the element or the document is told nothing of them by
 * tags or dates: neither a guess is confirmed, nor does a failure name what is there (SEC-6).
 */
function* checkingConditions(site: Site, conditions: Conditions, { held, target, known }: Located): Steps<void> {
  const { resource } = held
  const fragment = fragmentPart(yield* writingMarkup(target.element, target.document.kind))
  const document = site.documentPart(resource)
  const all = known === 'everything'
  const verdict = evaluateWrite(conditions, {
    exists: true,
    tags: all ? [held.tag] : [],
    documentParts: [document],
    fragmentParts: known === 'nothing' ? [] : [fragment],
    ...(all && { lastModified: resource.modified, sameSecond: resource.sameSecond }),
  })
  if (verdict !== 'proceed')
    throw preconditionFailed(known === 'nothing' ? undefined : fragmentTag(fragment, document), true)
}

function toEdit(write: ElementWrite, located: Located, text: string): Edit {
  const { target, anchor } = located
  if (write.op === 'put') return { op: 'replace', target: target.element, text }
  if (write.op === 'post') return { op: 'insert', anchor: target.element, placement: write.placement, text }
  if (write.op === 'delete') return { op: 'remove', target: target.element }
  if (!anchor) throw noMatch()
  return { op: 'move', source: target.element, anchor: anchor.element, placement: write.destination.placement }
}

/** Gate 13. Returns undefined when somebody else's commit came first and everything has to be looked at again. */
async function commitEdit(
  site: Site,
  write: ElementWrite,
  located: Located,
  text: string,
  authority: Authority,
): Promise<Answer | undefined> {
  const { target, anchor, held } = located
  if (write.op === 'move' && anchor?.element === target.element && isSibling(write.destination.placement))
    return { status: 204, headers: { ...storedTag(located, held.tag), 'Cache-Control': 'no-store' } }
  const { path, cause } = write
  const model = modelState(site, write)
  const selectors = eventSelectors(site, write, located)
  const wanted = toEdit(write, located, text)
  const { asked, follows } = await judgedEdit(site, model, write, located, wanted, authority)
  const changed = follows.own.get(path)
  const draft = changed ? await redraft(site, held, asked, changed) : asked
  const { bytes, digest, derived, show, newTree } = draft
  const { profile, declares } = derived
  // Of a change that goes beyond the edit nobody else can make the same by making the edit (EVT-23).
  const event =
    changed || asked.way === 'reparsed'
      ? putEvent(site, path, digest, decode(bytes).text, cause)
      : editEvent(site, write, selectors, draft)
  const isFollowed = site.isShared && !changed && asked.isAsAsked
  const edit = isFollowed ? editNotice(path, held.resource.version, wanted, asked.way) : undefined
  const own = {
    changes: [newVersion(held.resource, bytes, derived)],
    events: [event],
    ...(edit !== undefined && { edit }),
    written: [{ path, bytes, profile, declares, show, newTree }],
    accessVersion: authority.accessVersion === undefined ? undefined : located.accessVersion,
  }
  const result = await commitJudged(site, model, own, follows)
  return result.ok ? answerTo(write, located, draft, result.at) : undefined
}

/**
 * The edit as it would be stored, with what follows from it.
 *
 * @throws Fault when it cannot be made, or must not
 */
async function judgedEdit(
  site: Site,
  model: ModelState,
  write: ElementWrite,
  located: Located,
  wanted: Edit,
  authority: Authority,
): Promise<{ asked: Draft; follows: Consequences }> {
  const { path, op } = write
  const { held, tree, target } = located
  const removed = op === 'delete' ? factsAbout(site, path, [target]) : undefined
  const asked = await draftEdit(site, model, {
    path,
    held,
    tree,
    wanted,
    check: function* (proposal, view, derived) {
      checkContainment(proposal, view, placesOf(write, located), path, authority)
      yield* checkingConfiguration(site, { op, path, target: target.element }, view, derived, authority)
    },
    facts: view => removed ?? factsAbout(site, path, changedElements(view)),
  })
  const { judgement, losses, open } = asked
  const { entries } = asked.derived
  const failures =
    op === 'delete'
      ? await newFailures(model.registry, path, judgement.failures, tree, target.element)
      : judgement.failures
  const follows = await consequencesOf(site, model, {
    path,
    judgement: { ...judgement, failures },
    entries,
    status: op === 'delete' ? 409 : 422,
    losses,
    own: new Map([[path, { entries, open }]]),
  })
  return { asked, follows }
}

function answerTo(write: ElementWrite, located: Located, { digest, tag, inserted }: Draft, at: number): Answer {
  const { resource } = located.held
  const whole = storedTag(located, contentTag(digest))
  const headers = { 'Last-Modified': formatHttpDate(at), 'Cache-Control': 'no-store' }
  if (write.op === 'delete' || write.op === 'move') return { status: 204, headers: { ...whole, ...headers } }
  const described = {
    'Content-Type': servedType(resource.type, true),
    'Content-Range': selectorContentRange(write.range.wire),
  }
  return { status: 206, headers: { ...(tag ? { ETag: tag } : whole), ...headers, ...described }, body: inserted }
}

/** The tag of the stored document is made of all its bytes: it is for those who may read them (SEC-11). */
function storedTag({ known }: Located, tag: string): Record<string, string> {
  return known === 'everything' ? { ETag: tag } : {}
}

/** The elements whose children a write is about. */
function placesOf(write: ElementWrite, { target, anchor }: Located): (ElementNode | undefined)[] {
  const around = ({ element }: Key, placement?: Placement) =>
    placement === 'append' || placement === 'prepend' ? element : parentElement(element)
  if (write.op === 'post') return [around(target, write.placement)]
  return write.op === 'move' && anchor
    ? [around(target), around(anchor, write.destination.placement)]
    : [around(target)]
}

function isSibling(placement: Placement): boolean {
  return placement === 'before' || placement === 'after'
}

/** The selectors by which subscribers find the elements of a write (EVT-23). */
interface EventSelectors {
  target: string
  anchor: string
}

function eventSelectors(site: Site, write: ElementWrite, { target, anchor }: Located): EventSelectors {
  const forBrowsers = (text: string, { element, document }: Key) =>
    eventSelector(text, toSelector(text, site), element, document)
  return {
    target: forBrowsers(write.range.selector, target),
    anchor: write.op === 'move' && anchor ? forBrowsers(write.destination.selector, anchor) : '',
  }
}

function factsAbout(site: Site, path: string, keys: readonly Key[]): string {
  return elementFacts(site.rules, path, keys, site.onlookers(path))
}

function editEvent(site: Site, write: ElementWrite, selectors: EventSelectors, { inserted, tag, facts }: Draft) {
  const { ns, host } = site.settings
  return mutationEvent(ns, host, mutationOf(write, selectors, inserted, tag), write.cause, facts)
}

function mutationOf(write: ElementWrite, selectors: EventSelectors, body: string, tag: string | undefined) {
  const common = { selector: selectors.target, path: write.path }
  if (write.op === 'delete') return { ...common, method: 'DELETE' as const, body: '' }
  const etag = tag === undefined ? {} : { etag: tag }
  if (write.op === 'put') return { ...common, ...etag, method: 'PUT' as const, body }
  if (write.op === 'post') return { ...common, ...etag, method: 'POST' as const, body, placement: write.placement }
  const { placement } = write.destination
  return { ...common, ...etag, method: 'MOVE' as const, body, placement, destination: selectors.anchor }
}
