/** What writes to elements are about: found in the newest version, and passed through the gates (HTTP-6). */

import type { ReadableView } from '../access/readable-view.ts'
import type { Admission, Authority, Key, Question } from '../authority.ts'
import type { Reader } from '../compose/reader.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import type { Conditions } from '../http/conditions.ts'
import type { DestinationRange, SelectorRange } from '../http/range.ts'
import type { Gate } from '../operation.ts'
import { lookAtSeen, type Origin, type Representation, type Seen, viewingOf } from '../read/representation.ts'
import { absent, noMatch } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { notHtml, type StoredFile } from '../site/stored-file.ts'
import type { Placement } from '../tree/edit/edit.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { sameElement } from '../tree/same-nodes.ts'
import {
  findingOnly,
  type Selector,
  SelectorError,
  selectingCounted,
  selectingFirst,
} from '../tree/selector/selector.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import type { Judging } from './commit.ts'
import { checkingConditions, type Known, mayKnow } from './element-conditions.ts'
import { sessionWriteOf } from './session-element.ts'
import { mayRead } from './whole.ts'

interface ElementWriteBase extends Judging {
  /** Canonical path of the document. */
  path: string
  conditions: Conditions | undefined
  cause: Cause
  /** A last look inside the commit; it throws a Fault. */
  check?: () => Promise<void>
  /** Whether code has made the fragment: what is in it may be a visitor's, whoever writes. Known with the body. */
  isMade?: boolean | undefined
  /** For whom the page is put together in which the elements are looked for (COMP-86); without it they are looked for in what is stored. */
  reader?: Reader
  /** Markup of the element that is meant: another one that has come to stand there is 412. */
  expected?: string
  /** Header field that tells how many elements match where only the first of several is changed (HTTP-91, HTTP-100). */
  matchesField?: string
}

export type ElementWrite = ElementWriteBase &
  (
    | { op: 'put'; range: SelectorRange }
    | { op: 'post'; range: SelectorRange; placement: Placement }
    | { op: 'delete'; range: SelectorRange }
    | { op: 'move'; range: SelectorRange; destination: DestinationRange }
  )

/** What a write is about, as far as it was found in one version and decided under one set of rules. */
interface Found {
  site: Site
  write: ElementWrite
  authority: Authority
  admission: Admission
  accessVersion: number
  /** What the requester sees; undefined for a blob, and where nothing is stored. */
  view?: Representation | undefined
  file?: StoredFile
  /** As the requester sees it. */
  target?: Key | undefined
  /** How many elements of what the requester may know the selector matches, where that is to be told. */
  matches?: number
  /** Of a move. */
  anchor?: Key | undefined
  /** What the requester may know of the document by its tags (SEC-6, SEC-11). */
  known: Known
}

/** The same once it has passed all gates, with the places where it is stored. */
export interface Located extends Found {
  view: Representation
  /** The document that holds the elements, which is another one for what was projected into a page (COMP-86). */
  file: StoredFile
  tree: TreeDocument
  /** The target in the view. */
  seen: Key
  /** In `tree`. */
  target: Key
  anchor?: Key | undefined
}

/** Selectors of a write, compiled once. */
export interface Selectors {
  target: Selector
  anchor?: Selector
}

type ElementGates = readonly Gate<Found, void | Steps<void>>[]

/** Gates of selector writes. They are passed in the step in which the elements were found: trees change in between. */
export const ELEMENT_GATES: ElementGates = [
  {
    name: 'authorization',
    pass({ write, view, target, anchor, known, admission, authority }) {
      if (admission !== 'refuse') return
      // Whoever sees the element learns that nobody can move it, rather than that they may not.
      if (view && target && known !== 'nothing') refuseTransient(write, view, target, anchor)
      throw authority.refusal(write.op.toUpperCase(), write.path)
    },
  },
  {
    name: 'existence',
    pass({ file }) {
      if (!file) throw absent()
    },
  },
  {
    name: 'kind',
    pass({ file, view }) {
      if (!view) throw notHtml()
      if (file?.profile?.utf8 === false)
        throw new Fault(
          422,
          'InvalidFragment',
          'The document is not valid UTF-8; its elements cannot be written one by one.',
        )
    },
  },
  {
    name: 'target',
    pass({ write, view, target, anchor }) {
      if (!target || (write.op === 'move' && !anchor)) throw noMatch()
      if (!view) return
      refuseTransient(write, view, target, anchor)
      for (const key of anchor ? [target, anchor] : [target])
        if (!sessionWriteOf(write, view, key.element)) originOf(view, key)
    },
  },
  {
    name: 'preconditions',
    pass({ write, view, target, known, authority }) {
      if (write.expected !== undefined && view && target) return checkingSame(target.element, view.tree, write.expected)
      if (write.conditions && view && target)
        return checkingConditions(write.conditions, view, target, known, mayKnow(authority, write.path))
      return undefined
    },
  },
]

function* checkingSame(element: ElementNode, { kind }: TreeDocument, expected: string): Steps<void> {
  if ((yield* writingMarkup(element, kind)) !== expected)
    throw new Fault(412, 'PreconditionFailed', 'The element has been changed since it was found.')
}

export const AUTHORIZATION: ElementGates = ELEMENT_GATES.filter(({ name }) => name === 'authorization')

/**
 * What has passed all gates is there: finds where it is stored.
 *
 * @returns undefined when it has been changed meanwhile
 * @throws Fault 416 for what is stored nowhere, or would be the template of a route (COMP-86, COMP-101), 501 for a move
 *   from one document to another
 */
export async function located(found: Found): Promise<Located | undefined> {
  const { site, view } = found
  if (!view || !found.target) throw noMatch()
  const target = originOf(view, found.target)
  const anchor = found.anchor && originOf(view, found.anchor)
  const { path, version } = target.file.resource
  if (anchor && anchor.file.resource.path !== path)
    throw new Fault(501, 'MoveCrossResource', 'The two elements are stored in different documents.')
  // Places in the text are those of this version, as long as nobody has edited its tree.
  const kept = site.inMemory(path)
  const isChanged = (file: StoredFile | undefined) => file?.resource.version !== version
  if ((kept && isChanged(kept)) || (anchor && isChanged(anchor.file))) return undefined
  const places = [target, ...(anchor ? [anchor] : [])].map(placeOf)
  // What was read for the page may have pushed it out of the memory.
  const file = kept ?? (await site.find(path))
  if (!file || isChanged(file)) return undefined
  const tree = await site.parsed(file)
  const [first, second] = places.map(place => place(tree))
  return first && { ...found, view, file, tree, seen: found.target, target: first, anchor: second }
}

/** How the element of a document's own tree is found that stands where one of another tree of the same text does. */
function placeOf({ tree, element }: Origin): (document: TreeDocument) => Key {
  return document => {
    const found = tree === document ? element : sameElement(tree, element, document)
    if (!found) throw nowhere()
    return { element: found, document }
  }
}

/** What is put together for a page and stored nowhere: 416. */
function nowhere(): Fault {
  return new Fault(416, 'SelectorNoMatch', 'The element is put together for this page and stored nowhere.')
}

/** @throws Fault 416 */
function originOf(view: Representation, { element }: Key): Origin {
  const origin = view.originOf(element)
  if (!origin || (view.routed && origin.file.resource.path === view.file.resource.path)) throw nowhere()
  return origin
}

/** Whether what was found is still what stands there, under the same rules and for the same requester. */
export function isCurrent(site: Site, located: Located, current: Authority): boolean {
  const { file, tree, accessVersion, view, authority } = located
  const isDecided = site.accessVersion === accessVersion && authority === current
  return isDecided && site.isInMemory(file) && file.hasTree && file.tree === tree && view.holds()
}

/**
 * Looks for the elements in the newest version, asks whether they may be written (HTTP-6), and passes gates.
 *
 * @throws Fault of the first gate that fails
 */
export async function findElements(
  site: Site,
  write: ElementWrite,
  selectors: Selectors,
  authority: Authority,
  gates: ElementGates,
): Promise<Found> {
  const common: Common = { site, write, authority, known: 'nothing' }
  const found = await lookForWrite(site, write, seen => looking(common, selectors, gates, seen), authority)
  if (found) return found
  const admission = authority.admit(questionOf(write, 'nothing'))
  return atOnce(passing(gates, { ...common, admission, accessVersion: site.accessVersion }))
}

/** `findElements` in a document at hand, through all gates, in steps. @returns undefined where nothing of it may be known */
export function findingIn(
  site: Site,
  write: ElementWrite,
  selectors: Selectors,
  authority: Authority,
  seen: Seen,
): Steps<Found | undefined> {
  return looking({ site, write, authority, known: 'nothing' }, selectors, ELEMENT_GATES, seen)
}

type Common = Pick<Found, 'site' | 'write' | 'authority' | 'known'>

/**
 * Looks for the elements in what is seen at the path, and passes the gates, in steps.
 *
 * @returns undefined where nothing of it may be known: neither can anything be read, nor could any element be written
 */
function* looking(
  common: Common,
  selectors: Selectors,
  gates: ElementGates,
  { file, view }: Seen,
): Steps<Found | undefined> {
  const { site, write, authority } = common
  const { accessVersion } = site
  const tree = view?.tree
  const readable = view && (yield* viewingOf(authority, write.path, view))
  if (readable ? readable.isNameless : !mayRead(authority, write.path)) return undefined
  const isCounted = gates === ELEMENT_GATES && write.matchesField !== undefined
  const { first: target, count } = yield* keyed(view, readable, selectors.target, isCounted)
  const { first: anchor } = yield* keyed(view, readable, selectors.anchor)
  const admission = authority.admit(questionOf(write, tree ? 'document' : 'blob', target, anchor, view))
  const known =
    readable?.document === tree ? 'everything' : target && readable?.isReadable(target.element) ? 'target' : 'nothing'
  const matches = isCounted && count !== undefined ? { matches: count } : {}
  return yield* passing(gates, { ...common, file, view, target, anchor, admission, accessVersion, known, ...matches })
}

function* keyed(
  view: Representation | undefined,
  readable: ReadableView | undefined,
  selector: Selector | undefined,
  isCounted = false,
): Steps<{ first?: Key | undefined; count?: number }> {
  if (!view || !readable || !selector) return {}
  const { document, original } = readable
  const key = (element: ElementNode | undefined) => element && { element: original(element), document: view.tree }
  const only = view.composed ? undefined : yield* findingOnly(selector, document)
  if (only) return { first: key(only), count: 1 }
  if (!isCounted) return { first: key(yield* selectingFirst(selector, document)) }
  const { first, count } = yield* selectingCounted(selector, document)
  return { first: key(first), count }
}

/**
 * Looks at the page of a write. Whoever needs a rule that there is not learns nothing of a page that cannot be put
 * together (COMP-5).
 */
async function lookForWrite<T>(
  site: Site,
  { op, path, reader }: Pick<ElementWriteBase, 'path' | 'reader'> & { op: string },
  look: (seen: Seen) => Steps<T | undefined>,
  authority: Authority,
): Promise<T | undefined> {
  const method = op.toUpperCase()
  const reach = reader ? authority.reach(method, path) : 'elements'
  if (reach === 'nothing' || (op === 'move' && isMoveRefused(authority, path))) throw authority.refusal(method, path)
  try {
    return await lookAtSeen(site, path, look, reader)
  } catch (error) {
    // So does whether a function of the selector fails on it (COMP-139).
    const isOfPage = error instanceof SelectorError || (error instanceof Fault && !ANSWERS.has(error.status))
    throw reach === 'session' && isOfPage ? authority.refusal(method, path) : error
  }
}

/** Whether a move in a document of which the requester sees nothing is refused whatever stands there (AMV-2). */
function isMoveRefused(authority: Authority, path: string): boolean {
  const isOutOfReach = (method: string) => authority.reach(method, path) === 'nothing'
  return isOutOfReach('GET') && (isOutOfReach('DELETE') || isOutOfReach('POST'))
}

/** Statuses by which gates answer what session content is asked for. */
const ANSWERS: ReadonlySet<number> = new Set([401, 403, 405, 409, 412, 416])

/** @returns the field that tells that there are more elements than the one that was written */
export function matchesHeader({ matchesField }: ElementWrite, { matches = 0 }: Pick<Found, 'matches'>) {
  return matchesField !== undefined && matches > 1 ? { [matchesField]: String(matches) } : {}
}

/** Passes gates one after another, in steps. */
function* passing(gates: ElementGates, found: Found): Steps<Found> {
  for (const gate of gates) {
    const steps = gate.pass(found)
    if (steps) yield* steps
  }
  return found
}

function questionOf(
  write: ElementWrite,
  stored: 'document' | 'blob' | 'nothing',
  target?: Key,
  anchor?: Key,
  view?: Representation,
): Question {
  const { path, op } = write
  const exists = stored !== 'nothing'
  if (op === 'move')
    return { ask: 'move-element', path, exists, source: target, anchor, placement: write.destination.placement }
  // A blob has no place beside an element either: who may POST there learns that, as for any other placement (HTTP-22).
  const placed = op === 'post' && stored !== 'blob' ? { placement: write.placement } : {}
  const isSession = target && view && sessionWriteOf(write, view, target.element) !== undefined
  const transient = view?.composition !== undefined && view.composition.transients.size > 0
  return { ask: `${op}-element`, path, exists, target, ...placed, ...(isSession && { session: true }), transient }
}

/** COMP-76. @throws Fault 405 for a MOVE of a transient element, or out of or into one */
function refuseTransient(write: ElementWrite, view: Representation, target: Key, anchor: Key | undefined): void {
  if (write.op !== 'move') return
  const isMarked = ({ element }: Key, beside: boolean) => {
    const outermost = view.transientAround(element)
    return outermost !== undefined && !(beside && outermost === element)
  }
  if (isMarked(target, false) || (anchor && isMarked(anchor, isSibling(write.destination.placement))))
    throw notForTransient('Transient elements cannot be moved.')
}

function notForTransient(message: string): Fault {
  const headers = { Allow: 'GET, HEAD, PUT, POST, DELETE, OPTIONS, QUERY' }
  return new Fault(405, 'MethodNotAllowed', message, { headers })
}

/** COMP-76. @throws Fault 405 where a selector finds a transient element, or one inside of it, that the requester may read */
export async function refusePatch(
  site: Site,
  path: string,
  selector: Selector,
  authority: Authority,
  reader: Reader,
): Promise<void> {
  const look = (seen: Seen) => findsTransient(path, selector, authority, seen)
  if (await lookForWrite(site, { op: 'patch', path, reader }, look, authority))
    throw notForTransient('Transient elements cannot be patched.')
}

/** In steps. @returns undefined where nothing of what is seen at the path may be known */
function* findsTransient(
  path: string,
  selector: Selector,
  authority: Authority,
  { view }: Seen,
): Steps<boolean | undefined> {
  const readable = view && (yield* viewingOf(authority, path, view))
  if (readable ? readable.isNameless : !mayRead(authority, path)) return undefined
  const found = readable && (yield* selectingFirst(selector, readable.document))
  if (!view || !readable || !found || view.transientAround(readable.original(found)) === undefined) return false
  return readable.document === view.tree || readable.isReadable(readable.original(found))
}

export function isSibling(placement: Placement): boolean {
  return placement === 'before' || placement === 'after'
}
