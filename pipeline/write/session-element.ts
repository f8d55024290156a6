/** Writes to transient elements: they change the session's copy and never what is stored (COMP-73 to COMP-82). */

import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import type { Composition } from '../compose/compose.ts'
import { inert, readingOf, type TransientPlace, type VisitorSession } from '../compose/session-copies.ts'
import { Fault } from '../fault.ts'
import { selectorContentRange } from '../http/range.ts'
import { fragmentPart, fragmentTag } from '../http/tags.ts'
import { beyond, judgeAsItIs, refuseFailures, standingFailures } from '../model/judge.ts'
import { checkingShapes, type ShapeFailure } from '../model/shape-check.ts'
import { type Representation, typeOf } from '../read/representation.ts'
import type { Site } from '../site/site.ts'
import { isBlank, trimmed } from '../tree/ascii.ts'
import { TreeError } from '../tree/document.ts'
import { parsingFragment } from '../tree/fragment.ts'
import {
  attribute,
  type ChildNode,
  type ElementNode,
  isElement,
  isText,
  type ParentNode,
  type TreeDocument,
} from '../tree/nodes.ts'
import { Prefixes } from '../tree/prefixes.ts'
import { type Selector, selectingAll } from '../tree/selector/selector.ts'
import { outerMarkup, writingAtMost } from '../tree/serialize.ts'
import { isVoid } from '../tree/serialize-html.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { ModelState } from './commit.ts'
import type { ElementWrite } from './element-target.ts'

/** Milliseconds that a copy lasts from its last write, whatever becomes of the session (COMP-77). */
const LIFETIME = 30 * 24 * 60 * 60 * 1000

/** A write to session content, as it was found. */
export interface SessionWrite {
  view: Representation
  composition: Composition
  /** The element that the selector found, in the view. */
  target: ElementNode
  /** The marked element around it, in the view. */
  top: ElementNode
  place: TransientPlace
  session: VisitorSession
}

/**
 * @returns what the write is about, if it is about session content; undefined for any other one, also beside a marked
 *   element (COMP-74)
 */
export function sessionWriteOf(
  write: ElementWrite,
  view: Representation,
  target: ElementNode,
): SessionWrite | undefined {
  const top = view.transientAround(target)
  const { composition } = view
  const place = top && composition?.transients.get(top)
  if (!top || !place || !composition) return undefined
  if (write.op === 'post' && top === target && (write.placement === 'before' || write.placement === 'after'))
    return undefined
  const session = write.reader?.viewer.session
  if (!session) throw noSession()
  return { view, composition, target, top, place, session }
}

function noSession(): Fault {
  return new Fault(409, 'NoSession', 'The change needs a session, and there is none to keep it in.')
}

/**
 * Changes the session's copy. The view is changed with it, and of no use afterwards.
 *
 * @param text markup of a PUT or POST
 * @param authority of whoever writes
 * @param confirm whether nobody else can have changed it since it was read
 * @returns undefined where somebody may have; then nothing is changed
 * @throws Fault; then nothing is changed
 */
export async function writeSessionElement(
  site: Site,
  model: ModelState,
  write: ElementWrite,
  about: SessionWrite,
  selector: Selector,
  text: string,
  authority: Authority,
  confirm: () => boolean | Promise<boolean>,
): Promise<Answer | undefined> {
  const { view, target, top, place, session } = about
  const headers = { 'Cache-Control': 'no-store' }
  if (write.op === 'delete' && target === top) {
    if (!(await confirm())) return undefined
    await reach(session.take(place.name))
    return { status: 204, headers }
  }
  const isDelete = write.op === 'delete'
  const standing = isDelete ? await standingIn(model, write.path, about) : undefined
  const changed = isDelete ? remove(target, top) : await bring(site, write, about, text)
  // What is too large to be kept is judged by nobody: whoever sends it needs no rule.
  const markup = await inTurns(writingKept(site, about, changed.top), text.length)
  const [first] = changed.nodes.filter(isElement)
  if (write.op === 'put' && !(first && (await isFound(first, selector, write, view.tree, authority))))
    throw new Fault(422, 'InvalidFragment', 'The new element has to match the selector of the request.')
  await judge(site, model, write.path, about, changed, standing)
  await checkKept(about, markup)
  if (!(await confirm())) return undefined
  if (!(await reach(session.keep(place.name, markup, Date.now() + LIFETIME)))) throw noSession()
  if (isDelete) return { status: 204, headers }
  const body = trimmed(changed.nodes.map(node => outerMarkup(node, view.tree.kind)).join(''))
  const tag = first && fragmentTag(fragmentPart(outerMarkup(first, view.tree.kind)), documentPartWith(about, markup))
  return {
    status: 206,
    headers: {
      ...(tag && { ETag: tag }),
      ...headers,
      'Content-Type': typeOf(view),
      'Content-Range': selectorContentRange(write.range.wire),
    },
    body,
  }
}

/**
 * A copy is kept as markup, and is one element when it is read: what ends that element would be lost.
 *
 * @throws Fault 422
 */
async function checkKept({ place, top: { parentNode } }: SessionWrite, markup: string): Promise<void> {
  if (!parentNode || !isElement(parentNode)) return
  const [kind, context] = readingOf(place, parentNode)
  const nodes = await parsed(kind, markup, context)
  if (nodes.length !== 1)
    throw new Fault(
      422,
      'InvalidFragment',
      'This markup cannot stand in that place: it would end the element around it.',
    )
}

/** A copy as a write leaves it, in the view. */
interface Changed {
  top: ElementNode
  nodes: ChildNode[]
  parent: ParentNode
}

function remove(target: ElementNode, top: ElementNode): Changed {
  const parent = parentOf(target)
  parent.childNodes = parent.childNodes.filter(node => node !== target)
  return { top, nodes: [], parent }
}

/** @throws Fault 400 or 422 by the markup, and where the element would lose what it is known by (COMP-75) */
async function bring(
  site: Site,
  write: ElementWrite,
  { view, target, top, place }: SessionWrite,
  text: string,
): Promise<Changed> {
  if (isBlank(text)) throw new Fault(400, 'EmptyBody', 'The body holds no markup. Use DELETE to remove an element.')
  const isInside = write.op === 'post' && (write.placement === 'append' || write.placement === 'prepend')
  if (isInside && view.tree.kind === 'html' && isVoid(target))
    throw new Fault(422, 'InvalidPlacement', 'This element cannot have children; use before or after.')
  const parent = isInside ? target : parentOf(target)
  if (!isElement(parent)) throw new Fault(422, 'IllegalMove', 'The root element cannot be replaced here.')
  const prefixes = Prefixes.around(place.element).within(place.element)
  const read = await parsed(view.tree.kind, text, parent)
  const nodes = await inTurns(inert(site.model, read, prefixes), text.length)
  const [first, ...others] = nodes.filter(isElement)
  if (write.op === 'put' && (!first || (target === top && (others.length > 0 || hasText(nodes)))))
    throw new Fault(422, 'InvalidFragment', 'The body must hold the one element that takes the place of the old one.')
  if (write.op === 'put' && target === top && attribute(first ?? target, 'id') !== attribute(top, 'id'))
    throw new Fault(422, 'InvalidFragment', 'The id of the element has to stay as it is.')
  const brought = write.op === 'put' && target === top && first ? [first] : nodes
  for (const node of brought) node.parentNode = parent
  put(write, parent, target, brought)
  return { top: target === top && write.op === 'put' && first ? first : top, nodes: brought, parent }
}

/** Whether a selector finds an element in what whoever asks may see (COMP-75, SEC-6). */
function isFound(
  element: ElementNode,
  selector: Selector,
  { path }: ElementWrite,
  tree: TreeDocument,
  authority: Authority,
): Promise<boolean> {
  const looking = function* (): Steps<boolean> {
    const { document, original } = yield* authority.viewing(path, tree)
    const found = yield* selectingAll(selector, document)
    return found.some(each => original(each) === element)
  }
  return inTurns(looking(), tree.source.length)
}

function put(write: ElementWrite, parent: ElementNode, target: ElementNode, nodes: ChildNode[]): void {
  const list = parent.childNodes
  const at = list.indexOf(target)
  if (write.op === 'put') parent.childNodes = [...list.slice(0, at), ...nodes, ...list.slice(at + 1)]
  else if (write.op !== 'post') throw new Error('nothing to put in')
  else if (write.placement === 'append') parent.childNodes = [...list, ...nodes]
  else if (write.placement === 'prepend') parent.childNodes = [...nodes, ...list]
  else {
    const behind = write.placement === 'after' ? at + 1 : at
    parent.childNodes = [...list.slice(0, behind), ...nodes, ...list.slice(behind)]
  }
}

function hasText(nodes: readonly ChildNode[]): boolean {
  return nodes.some(node => isText(node) && !isBlank(node.value))
}

function parentOf({ parentNode }: ElementNode): ParentNode {
  if (!parentNode) throw new Fault(422, 'IllegalMove', 'The root element can be neither removed nor replaced here.')
  return parentNode
}

async function parsed(kind: 'html' | 'xml', text: string, context: ElementNode): Promise<ChildNode[]> {
  try {
    return await inTurns(parsingFragment(kind, text, context), text.length)
  } catch (error) {
    if (error instanceof TreeError)
      throw new Fault(422, 'InvalidFragment', `The fragment cannot be used: ${error.message}`)
    throw error
  }
}

/**
 * Schemas and shapes are those of the page and of the document that stores the element, without uniqueness and references
 * (COMP-79, MOD-91).
 *
 * @param standing failures of shapes before an element was removed (MOD-98)
 */
async function judge(
  site: Site,
  { registry, host }: ModelState,
  path: string,
  about: SessionWrite,
  { nodes, parent }: Changed,
  standing: readonly ShapeFailure[] | undefined,
): Promise<void> {
  const { tree } = about.view
  const place = { document: tree, part: { nodes, parents: [parent] } }
  const judged = await judgeAsItIs({ registry, host, path }, place)
  const stored = checkingShapes(registry.shapesBeside(path, storedAt(about)), place)
  const failures = [...judged.failures, ...(await inTurns(stored, tree.source.length))]
  const judgement = { requirements: [], failures: standing ? beyond(failures, standing) : failures }
  await refuseFailures(registry, site.store, judgement, { path, entries: [], status: standing ? 409 : 422 })
}

/** Failures of shapes before the element is removed. */
async function standingIn({ registry }: ModelState, path: string, about: SessionWrite): Promise<ShapeFailure[]> {
  const { view, target } = about
  const found = await standingFailures(registry.shapesAt(path), view.tree, target)
  return [...found, ...(await standingFailures(registry.shapesBeside(path, storedAt(about)), view.tree, target))]
}

/** Path of the document that stores the marked element. */
function storedAt({ place }: SessionWrite): string {
  return place.page.file.resource.path
}

/** The markup of a copy as it is to be kept, in steps. @throws Fault 413 (COMP-82) */
function* writingKept(site: Site, { composition, place }: SessionWrite, top: ElementNode): Steps<string> {
  const most = site.settings.sessionContentMax
  let left = most
  for (const [name, other] of composition.copies.get(place.prefix) ?? [])
    if (name !== place.name) left -= Buffer.byteLength(other)
  const markup = yield* writingAtMost(top, place.page.tree.kind, left)
  if (markup === undefined || Buffer.byteLength(markup) > left)
    throw new Fault(413, 'PayloadTooLarge', `A session may hold ${most} bytes of markup for one document.`, {
      isBodyRead: true,
    })
  return markup
}

/** The document part once the copy is as it is now. */
function documentPartWith({ view, composition, place }: SessionWrite, markup: string): string {
  const { resource } = view.file
  const copies = new Map(composition.copies)
  copies.set(place.prefix, new Map([...(copies.get(place.prefix) ?? []), [place.name, markup]]))
  return view.documentPartWith(resource.path, resource.digest, copies)
}

/** What a write needs of sessions that are out of reach is a conflict (SSN-4). */
async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Fault && error.status === 503 ? noSession() : error
  }
}
