/**
 * What becomes of a request by the rules (METH-3, sections 8 to 10): one question for each kind of request, one of four
 * answers. Elements are found by whoever asks; what they are asked for is decided here.
 */

import type { Placement } from '../tree/edit/edit.ts'
import { parentElement } from '../tree/nodes.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import type { Access } from './decision.ts'
import type { Key } from './matching.ts'

/**
 * `refuse` is 401 or 403 (DENY-1), `not-found` 404 and `no-match` 416. The last two are told only to those who may know
 * (section 9), and answered later in the request (HTTP-2).
 */
export type Admission = 'allow' | 'refuse' | 'not-found' | 'no-match'

/** A request for a resource as a whole. */
export interface WholeQuestion {
  ask: 'read' | 'subscribe' | 'evaluate' | 'put' | 'post' | 'delete' | 'patch'
  /** Decoded path of the request. */
  path: string
  /** Whether something is stored there. */
  exists: boolean
  /** `read` only: a HEAD, which rules of its own may decide (METH-2). */
  head?: boolean
}

/** A read by selector. */
export interface ElementsQuestion {
  ask: 'read-elements'
  path: string
  exists: boolean
  head?: boolean
  /** The elements that the answer is about: the first match, or every match on every page (ALL-1 to ALL-3). */
  keys: readonly Key[]
}

/** A PUT, POST or DELETE by selector. */
export interface ElementWriteQuestion {
  ask: 'put-element' | 'post-element' | 'delete-element'
  path: string
  exists: boolean
  /** First match of the selector (KEY-5); undefined when nothing matches. */
  target: Key | undefined
  /** `post-element` only; `append` when missing. */
  placement?: Placement
  /** The target is session content (DEC-8). */
  session?: boolean
  /** The page holds a transient element (ABS-3 c). */
  transient?: boolean
}

/** An element MOVE. */
export interface ElementMoveQuestion {
  ask: 'move-element'
  path: string
  exists: boolean
  source: Key | undefined
  anchor: Key | undefined
  placement: Placement
}

/** A whole-document MOVE. */
export interface MoveQuestion {
  ask: 'move'
  path: string
  destination: string
  exists: boolean
}

export type Question = WholeQuestion | ElementsQuestion | ElementWriteQuestion | ElementMoveQuestion | MoveQuestion

/** The rows of METH-3 that ask about a resource as a whole: the method asked, and whether absence matters. */
const WHOLE: Record<WholeQuestion['ask'], { method: string; absence: 'told' | 'ignored'; subscribe?: true }> = {
  read: { method: 'GET', absence: 'told' },
  subscribe: { method: 'GET', absence: 'told', subscribe: true },
  evaluate: { method: 'QUERY', absence: 'told' },
  put: { method: 'PUT', absence: 'ignored' },
  // On the path of a template, or of a directory for which a name is generated; the new document's path is asked by `put`.
  post: { method: 'POST', absence: 'told' },
  delete: { method: 'DELETE', absence: 'told' },
  // No change format is defined, so nothing is looked for (HTTP-115).
  patch: { method: 'PATCH', absence: 'ignored' },
}

/** The rows of METH-3 that write by selector. */
const WRITES: Record<ElementWriteQuestion['ask'], 'PUT' | 'POST' | 'DELETE'> = {
  'put-element': 'PUT',
  'post-element': 'POST',
  'delete-element': 'DELETE',
}

/**
 * Decides a request. Questions of creation by POST are two: `post` on the requested path and, once it is known, `put` on
 * the new one.
 *
 * @returns the admission; whoever asks checks what rules do not decide, such as reserved paths (METH-5)
 */
export function admit(access: Access, question: Question): Admission {
  switch (question.ask) {
    case 'read-elements':
      return atOnce(admittingElements(access, question))
    case 'put-element':
    case 'post-element':
    case 'delete-element':
      return admitElementWrite(access, question)
    case 'move-element':
      return admitElementMove(access, question)
    case 'move':
      return admitMove(access, question)
    default:
      return admitWhole(access, question)
  }
}

function admitWhole(access: Access, { ask, path, exists, head }: WholeQuestion): Admission {
  const { method, absence, subscribe } = WHOLE[ask]
  if (!access.permit(head ? 'HEAD' : method, path, undefined, { subscribe })) return 'refuse'
  if (exists || absence === 'ignored' || (ask === 'post' && path.endsWith('/'))) return 'allow'
  return tell('not-found', access.readable(path))
}

/** `admit` in steps, for elements of trees that do not change meanwhile. */
export function* admittingElements(access: Access, { path, exists, head, keys }: ElementsQuestion): Steps<Admission> {
  if (!exists) return tell('not-found', access.readable(path))
  if (keys.length === 0) return tell('no-match', access.readable(path))
  return (yield* access.permittingEvery(head ? 'HEAD' : 'GET', path, keys)) ? 'allow' : 'refuse'
}

function admitElementWrite(access: Access, question: ElementWriteQuestion): Admission {
  const { path, exists, target, session, transient } = question
  const method = WRITES[question.ask]
  const placement = method === 'POST' ? (question.placement ?? 'append') : undefined
  // Where nothing could grant the method, the refusal does not depend on what exists (HTTP-2, ABS-2, ABS-3).
  if (!exists) return tell('not-found', access.readable(path) && access.mayBeGranted(method, path))
  if (!target) {
    if (placement === 'before' || placement === 'after') return 'refuse'
    return tell('no-match', access.readable(path) && access.mayBeGranted(method, path, transient))
  }
  return access.permit(method, path, insertionKey(target, placement), { session }) ? 'allow' : 'refuse'
}

/** AMV-4, in its order. */
function admitElementMove(access: Access, question: ElementMoveQuestion): Admission {
  const { path, exists, source, anchor, placement } = question
  if (!access.permit('MOVE', path)) return 'refuse'
  const readable = access.readable(path)
  if (!exists) return tell('not-found', readable)
  if (!source) return tell('no-match', readable && access.mayBeGranted('DELETE', path))
  if (!anchor) return tell('no-match', readable && access.mayBeGranted('POST', path))
  const permitted =
    access.permit('DELETE', path, source) && access.permit('POST', path, insertionKey(anchor, placement))
  return permitted ? 'allow' : 'refuse'
}

/** AMV-3. */
function admitMove(access: Access, { path, destination, exists }: MoveQuestion): Admission {
  if (!access.permit('MOVE', path) || !access.permit('MOVE', destination)) return 'refuse'
  return exists ? 'allow' : tell('not-found', access.readable(path))
}

/**
 * What is asked about a request for a directory without its slash (ABS-6).
 *
 * @param path without slash at the end; nothing is stored there
 * @param index whether the directory has an index
 * @param head a HEAD, which rules of its own may decide (METH-2)
 */
export function admitDirectory(access: Access, path: string, index: boolean, head = false): Admission | 'redirect' {
  const directory = `${path}/`
  const method = head ? 'HEAD' : 'GET'
  if (access.decide(method, path) === 'deny' || access.decide(method, directory) === 'deny') return 'refuse'
  return index && access.readable(directory) ? 'redirect' : tell('not-found', access.readable(path))
}

/** Absence is told only to those who may know of it (section 9). */
function tell(absence: 'not-found' | 'no-match', mayKnow: boolean): Admission {
  return mayKnow ? absence : 'refuse'
}

/** The element that an insertion changes: the anchor itself, or its parent; none for an anchor without one (METH-3). */
function insertionKey(anchor: Key, placement: Placement | undefined): Key | undefined {
  if (placement !== 'before' && placement !== 'after') return anchor
  const element = parentElement(anchor.element)
  return element && { element, document: anchor.document }
}
