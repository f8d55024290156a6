/** What becomes of an edit of one element: judged, committed, told and answered (gate 13 of HTTP-1). */

import type { Answer } from '../answer.ts'
import type { Authority, Key } from '../authority.ts'
import { mayDeclareLive } from '../compose/introduced.ts'
import type { Derived } from '../declarations/derive.ts'
import { AT_ONCE, changedElements, tellingFacts } from '../events/facts.ts'
import { elementMutation, type Mutation, mutationEvent, putEvent } from '../events/mutation.ts'
import { eventSelector } from '../events/selector.ts'
import { formatHttpDate } from '../http/conditions.ts'
import { servedType } from '../http/media.ts'
import { selectorContentRange } from '../http/range.ts'
import { fragmentTag, splitFragmentTag } from '../http/tags.ts'
import { allFailures, newFailures } from '../model/judge.ts'
import type { Shape } from '../model/shape.ts'
import { checkingShapes, type ShapeFailure } from '../model/shape-check.ts'
import { isReadAsWritten } from '../read/representation.ts'
import { noMatch, toSelector } from '../refusals.ts'
import { editNotice } from '../site/followed-edits.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { NewEvent } from '../store/commit.ts'
import { contentTag } from '../store/tags.ts'
import { uniqueSelector } from '../tree/address.ts'
import { decodeInTurn, encoding, PIECE } from '../tree/document.ts'
import type { Edit, Placement, ProposedEdit, View } from '../tree/edit/edit.ts'
import { type ElementNode, isElement, parentElement, type TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { findingShown, type Shown } from '../tree/readings.ts'
import { type Selector, SelectorError, selectingFirst } from '../tree/selector/selector.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { SplicedContent } from '../tree/spliced-bytes.ts'
import { atOnce, inTurns, type Steps } from '../tree/steps.ts'
import { commitJudged, type ModelState, type OwnChanges } from './commit.ts'
import { checkingConfiguration } from './configuration.ts'
import { type Consequences, consequencesOf, NOTHING_FOLLOWS } from './consequences.ts'
import { checkingContainment } from './containment.ts'
import { checkingDirectives } from './directives.ts'
import { writtenPlace } from './edit-copy.ts'
import { type ElementWrite, isSibling, type Located, matchesHeader } from './element-target.ts'
import { afterCascade, type EditRequest, type JudgedEdit, judgeEdit, taggingElement } from './judge-edit.ts'
import { putVersion } from './new-version.ts'
import { mayRead } from './whole.ts'

/** What a write does to the tree in which its elements were found. @throws Fault 416 */
export function toEdit(write: ElementWrite, located: Located, text: string): Edit {
  const { site, file } = located
  // What it brings may be what makes it a page that is put together.
  const asWritten = isReadAsWritten(site, file) || (file.kind === 'html' && mayDeclareLive(site.model, text))
  return { ...plainEdit(write, located, text), asWritten }
}

function plainEdit(write: ElementWrite, located: Located, text: string): Edit {
  const { target, anchor } = located
  if (write.op === 'put') return { op: 'replace', target: target.element, text }
  if (write.op === 'post') return { op: 'insert', anchor: target.element, placement: write.placement, text }
  if (write.op === 'delete') return { op: 'remove', target: target.element }
  if (!anchor) throw noMatch()
  return { op: 'move', source: target.element, anchor: anchor.element, placement: write.destination.placement }
}

/**
 * Gate 13, for a write that has the document to itself.
 *
 * @returns undefined when somebody else's commit came first and everything has to be looked at again
 * @throws Fault when the edit cannot be made, or must not; ChangedDocument when the tree has changed meanwhile
 */
export async function commitEdit(
  site: Site,
  model: ModelState,
  write: ElementWrite,
  located: Located,
  text: string,
  authority: Authority,
): Promise<Answer | undefined> {
  if (isInItself(write, located)) return tellInItself(site, model, write, located, authority)
  const { file } = located
  const { path } = file.resource
  const selectors = await eventSelectors(site, write, located)
  const wanted = toEdit(write, located, text)
  const { asked, follows } = await judgedWithConsequences({ site, model, write, located, wanted, authority })
  const changed = follows.own.get(path)
  const judged = changed ? await afterCascade(site, file, asked, changed) : asked
  // Of a change that goes beyond the edit nobody else can make the same by making the edit (EVT-23).
  const event =
    changed || asked.isBeyond
      ? putEvent(site, path, judged.digest, (await decodeInTurn(judged.body.bytes)).text, write.cause)
      : editEvent(site, { ...write, path }, selectors, judged)
  const isFollowed = site.isShared && !changed && asked.isAsAsked
  const edit = isFollowed ? editNotice(file, wanted, asked) : undefined
  const own = { ...ownChanges(located, judged, event, authority), ...(edit !== undefined && { edit }) }
  const result = await commitJudged(site, model, own, follows)
  return result.ok ? inBytes(answerTo(write, located, judged, result.at)) : undefined
}

/** A long text would be encoded at once when it is sent. */
async function inBytes(answer: Answer): Promise<Answer> {
  const { body } = answer
  if (typeof body !== 'string' || body.length <= PIECE) return answer
  return { ...answer, body: await inTurns(encoding(body, false), body.length) }
}

/** Whether an element is to be moved before or behind itself: nothing changes. */
export function isInItself(write: ElementWrite, { target, anchor }: Located): boolean {
  return write.op === 'move' && anchor?.element === target.element && isSibling(write.destination.placement)
}

/** Such a move changes nothing (HTTP-106), and is told as every write that leaves the bytes as they are (EVT-28). */
async function tellInItself(
  site: Site,
  model: ModelState,
  write: ElementWrite,
  located: Located,
  authority: Authority,
): Promise<Answer | undefined> {
  const { file, target, accessVersion } = located
  const { path, digest } = file.resource
  const { document } = target
  const selectors = await eventSelectors(site, write, located)
  const telling = function* () {
    const shown = yield* findingKey(site, file, target)
    const told = yield* writingMarkup(shown.element, document.kind)
    const tag = yield* taggingElement(site, [shown.element], document, { path, digest })
    const facts = yield* tellingFacts(site.rules, path, [shown], site.onlookers(path))
    return { told, tag, facts }
  }
  const event = editEvent(site, { ...write, path }, selectors, await inTurns(telling(), document.source.length))
  const decided = authority.accessVersion === undefined ? undefined : accessVersion
  const own = { changes: [], events: [event], written: [], accessVersion: decided }
  const { ok } = await commitJudged(site, model, own, NOTHING_FOLLOWS)
  return ok ? { status: 204, headers: { ...storedTag(located, file.tag), 'Cache-Control': 'no-store' } } : undefined
}

/** What a judged edit changes of its own document. */
export function ownChanges(
  { file, accessVersion }: Located,
  judged: JudgedEdit,
  event: NewEvent,
  authority: Authority,
): OwnChanges {
  const { body, digest, splices, derived, show, newTree } = judged
  const { profile, declares } = derived
  return {
    changes: [putVersion(file.resource, { content: new SplicedContent(body, digest, splices), derived })],
    events: [event],
    written: [{ path: file.resource.path, body, profile, declares, show, newTree }],
    accessVersion: authority.accessVersion === undefined ? undefined : accessVersion,
  }
}

/** A write of an element, and what it does to the document where that is. */
export interface WantedEdit {
  site: Site
  model: ModelState
  write: ElementWrite
  located: Located
  wanted: Edit
  authority: Authority
}

interface Asked extends WantedEdit {
  /** Text of the document as it was. */
  before: string
  /** Gets what the requester's own shapes find. */
  brought: Brought
}

/** What shapes find where HTML has the elements, and where pages show them. */
type Brought = Record<'own' | 'shown', readonly ShapeFailure[]>

/** What an edit as it was asked for must not do, in steps. @throws Fault */
function* checking(asked: Asked, proposal: ProposedEdit, view: View, derived: Derived): Steps<void> {
  const { site, model, write, located, wanted, authority, before, brought } = asked
  const { path } = located.file.resource
  const place = placeOf(write, located)
  yield* checkingContainment(proposal, view, place, located.file.resource, authority, readsAll(located), before)
  const change = { op: write.op, path, requested: write.path, target: located.target.element }
  yield* checkingConfiguration(site, change, view, derived, authority)
  yield* checkingDirectives(site, write, located, { wanted, before, proposal, view, place }, model.registry, authority)
  const own = model.registry.shapesBeside(path, write.path)
  Object.assign(brought, yield* checkingOwnShapes(own, proposal, view))
}

/** An element of a stored document as those find it who read it by selector. */
function* findingKey(site: Site, file: StoredFile, key: Key): Steps<Key> {
  if (!isReadAsWritten(site, file)) return key
  const { document, nodes } = yield* findingShown(key.document, [key.element])
  const [element] = nodes.filter(isElement)
  return element ? { element, document } : key
}

/**
 * An edit as it is to be judged; `brought` gets what the requester's own shapes find in it.
 *
 * @param target as those find it who read it
 */
export function editRequest(
  asked: WantedEdit,
  target: Key = asked.located.target,
): { request: EditRequest; brought: Brought } {
  const { site, write, wanted } = asked
  const { file, tree } = asked.located
  const { path } = file.resource
  // The tree may show the edit when it is looked at.
  const before = tree.source
  const brought: Brought = { own: [], shown: [] }
  const removed =
    write.op === 'delete' ? atOnce(tellingFacts(site.rules, path, [target], site.onlookers(path), AT_ONCE)) : undefined
  const request: EditRequest = {
    path,
    file,
    tree,
    wanted,
    check: (proposal, view, derived) => checking({ ...asked, before, brought }, proposal, view, derived),
    facts: shown => tellingAbout(site, path, shown, removed),
  }
  return { request, brought }
}

/**
 * The edit as it would be stored, with what follows from it.
 *
 * @throws Fault when it cannot be made, or must not
 */
async function judgedWithConsequences(edit: WantedEdit): Promise<{ asked: JudgedEdit; follows: Consequences }> {
  const { site, model } = edit
  const { op } = edit.write
  const { file, tree, target } = edit.located
  const { path } = file.resource
  const gone = op === 'delete' ? await inTurns(findingKey(site, file, target), tree.source.length) : target
  const { request, brought } = editRequest(edit, gone)
  const asked = await judgeEdit(site, model, request)
  const { judgement, losses, open } = asked
  const { entries } = asked.derived
  const beside = model.registry.shapesBeside(path, edit.write.path)
  const { own, shown } = brought
  const more =
    op === 'delete'
      ? newFailures(beside, { failures: own, document: tree, element: target.element }, { failures: shown, ...gone })
      : allFailures(own, shown)
  const failures = [...judgement.failures, ...(await more)]
  const follows = await consequencesOf(site, model, {
    path,
    judgement: { ...judgement, failures },
    entries,
    status: op === 'delete' ? 409 : 422,
    losses,
    transitions: asked.transitions,
    own: new Map([[path, { entries, open }]]),
  })
  return { asked, follows }
}

/**
 * Shapes that speak of the page that is written through, beside those of the document where it lands (COMP-88). They hold
 * where elements are shown as well, as those do.
 */
function* checkingOwnShapes(shapes: readonly Shape[], { shown }: ProposedEdit, view: View): Steps<Brought> {
  const own = yield* checkingShapes(shapes, writtenPlace(view))
  if (!shown || shapes.length === 0) return { own, shown: [] }
  const { document, ...part } = shown
  return { own, shown: yield* checkingShapes(shapes, { document, part }) }
}

/** The answer to a write whose edit is committed. @param at unix milliseconds of the commit */
export function answerTo(write: ElementWrite, located: Located, judged: JudgedEdit, at: number): Answer {
  const { digest, inserted } = judged
  const { resource } = located.file
  const tag = judged.tag && pageTag(located, judged.tag, digest)
  const whole = storedTag(located, contentTag(digest))
  const headers = {
    'Last-Modified': formatHttpDate(at),
    'Cache-Control': 'no-store',
    ...matchesHeader(write, located),
  }
  if (write.op === 'delete' || write.op === 'move') return { status: 204, headers: { ...whole, ...headers } }
  const described = {
    'Content-Type': servedType(resource.type, true),
    'Content-Range': selectorContentRange(write.range.wire),
  }
  return { status: 206, headers: { ...(tag ? { ETag: tag } : whole), ...headers, ...described }, body: inserted }
}

/** The tag of a new element as the page will carry it that was written through (HTTP-32). */
function pageTag({ view, file }: Located, tag: string, digest: string): string {
  const parts = view.composed ? splitFragmentTag(tag.slice(1, -1)) : undefined
  return parts ? fragmentTag(parts.fragment, view.documentPartWith(file.resource.path, digest)) : tag
}

/**
 * The tag of the stored document is made of all its bytes: it is for those who may read them (SEC-11), which the readers
 * of a page need not.
 */
function storedTag({ known, file, view }: Located, tag: string): Record<string, string> {
  return known === 'everything' && file.resource.path === view.file.resource.path ? { ETag: tag } : {}
}

/** Whether the requester may read all of the document that holds the elements. */
function readsAll({ known, file, view, authority }: Located): boolean {
  const { path } = file.resource
  return known === 'everything' && (path === view.file.resource.path || mayRead(authority, path))
}

/** The element whose children a write may change: for a move that to which something comes, for DELETE is asked of the source alone. */
function placeOf(write: ElementWrite, { target, anchor }: Located): ElementNode | undefined {
  const around = ({ element }: Key, placement?: Placement) =>
    placement === 'append' || placement === 'prepend' ? element : parentElement(element)
  if (write.op === 'post') return around(target, write.placement)
  return write.op === 'move' && anchor ? around(anchor, write.destination.placement) : around(target)
}

/** The selectors by which subscribers find the elements of a write (EVT-23). */
interface EventSelectors {
  target: string
  anchor: string
}

/** In steps: what is found first in a composed page, or as composition reads it, need not be found first where it is stored. */
export function* findingEventSelectors(
  site: Pick<Site, 'selectors'>,
  write: ElementWrite,
  { target, anchor, view }: Pick<Located, 'target' | 'anchor'> & { view: Pick<Located['view'], 'tree'> },
): Steps<EventSelectors> {
  const { tree } = view
  return {
    target: yield* forBrowsers(toSelector(write.range.selector, site), write.range.selector, target, tree),
    anchor:
      write.op === 'move' && anchor
        ? yield* forBrowsers(toSelector(write.destination.selector, site), write.destination.selector, anchor, tree)
        : '',
  }
}

function* forBrowsers(selector: Selector, text: string, { element, document }: Key, seen: TreeDocument): Steps<string> {
  const isOther = seen !== document && (yield* findingStored(selector, document)) !== element
  return isOther ? uniqueSelector(element, document) : eventSelector(text, selector, element, document)
}

/**
 * The first element that a selector finds where it is stored; none where it fails there: whoever has sent it may see less of that
 * than there is (SEC-6).
 */
function* findingStored(selector: Selector, document: TreeDocument): Steps<ElementNode | undefined> {
  try {
    return yield* selectingFirst(selector, document)
  } catch (error) {
    if (error instanceof SelectorError) return undefined
    throw error
  }
}

/** The same, which shares the event loop. */
async function eventSelectors(site: Site, write: ElementWrite, located: Located): Promise<EventSelectors> {
  const { document } = located.target
  const unpin = pinTree(document)
  try {
    return await inTurns(findingEventSelectors(site, write, located), document.source.length)
  } finally {
    unpin()
  }
}

function* tellingAbout(site: Site, path: string, shown: Shown, known: string | undefined): Steps<string> {
  return known ?? (yield* tellingFacts(site.rules, path, changedElements(shown), site.onlookers(path)))
}

/** What subscribers are told of an edit, so that they can make it as well (EVT-23). */
export function editEvent(
  site: Site,
  write: ElementWrite,
  selectors: EventSelectors,
  { told, tag, facts }: Pick<JudgedEdit, 'told' | 'tag' | 'facts'>,
) {
  const { ns, host } = site.settings
  return mutationEvent(ns, host, elementMutation(mutationOf(write, selectors, told, tag)), write.cause, facts)
}

function mutationOf(write: ElementWrite, selectors: EventSelectors, body: string, tag: string | undefined): Mutation {
  const common = { selector: selectors.target, path: write.path }
  if (write.op === 'delete') return { ...common, method: 'DELETE', body: '' }
  const etag = tag === undefined ? {} : { etag: tag }
  if (write.op === 'put') return { ...common, ...etag, method: 'PUT', body }
  if (write.op === 'post') return { ...common, ...etag, method: 'POST', body, placement: write.placement }
  const { placement } = write.destination
  return { ...common, ...etag, method: 'MOVE', body, placement, destination: selectors.anchor }
}
