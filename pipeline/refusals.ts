/** Refusals that requests share: where forbidden, absent and unmatched become statuses. */

import type { Admission, Authority, Question, WholeQuestion } from './authority.ts'
import { Fault } from './fault.ts'
import { type Extensions, type Selector, SelectorError, selectorFor } from './tree/selector/selector.ts'

/** Every method of the public host, for `Allow` (HTTP-115). */
export const OFFERED = 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS'
/** Known to HTTP or WebDAV, but not offered there (HTTP-115). */
const ELSEWHERE = new Set(['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'LOCK', 'UNLOCK', 'TRACE', 'CONNECT'])

/** @returns how a method is refused that the public surface has no handler for (HTTP-115) */
export function notOffered(method: string): Fault {
  const details = { headers: { Allow: OFFERED } }
  if (!ELSEWHERE.has(method)) return new Fault(501, 'NotImplemented', 'This method is not known.', details)
  return new Fault(405, 'MethodNotAllowed', `${method} is not offered here; mount the site to use WebDAV.`, details)
}

export function absent(): Fault {
  return new Fault(404, 'NotFound', 'Nothing is stored at this address.')
}

export function noMatch(): Fault {
  return new Fault(416, 'SelectorNoMatch', 'The selector matches no element of this document.')
}

/** What code or a page has made cannot be stored as it is (COMP-147). */
export function noMarkup(): Fault {
  const message = 'Some of this HTML reads as other elements where it is stored, as links in each other around SVG do.'
  return new Fault(422, 'InvalidFragment', message)
}

/**
 * Gates 8, 10 and 11 for requests that stop at none of them.
 *
 * @param path that a refusal names (DENY-1)
 * @throws Fault unless the question is answered `allow`
 */
export function requireAllowed(authority: Authority, question: Question, method: string, path: string): void {
  requireAdmission(authority.admit(question), method, path, authority)
}

/** Gate 8 alone: what is absent is told later (HTTP-2). @throws Fault 401 or 403 */
export function refuseForbidden(authority: Authority, question: Question, method: string, path: string): void {
  if (authority.admit(question) === 'refuse') throw authority.refusal(method, path)
}

/**
 * Refuses before anything is looked for whatever would be refused in any case: bytes that have to come from the disk would
 * tell by their time that they are there (SEC-6).
 *
 * @param question without `exists`
 * @param path that a refusal names (DENY-1)
 * @throws Fault 401 or 403
 */
export function refuseUnseen(authority: Authority, question: Unseen, method: string, path: string): void {
  for (const exists of [true, false]) if (authority.admit({ ...question, exists }) !== 'refuse') return
  throw authority.refusal(method, path)
}

type Unseen = Omit<WholeQuestion, 'exists'>

/** `requireAllowed` for a question that was asked already. */
export function requireAdmission(admission: Admission, method: string, path: string, authority: Authority): void {
  if (admission === 'allow') return
  if (admission === 'refuse') throw authority.refusal(method, path)
  throw admission === 'not-found' ? absent() : noMatch()
}

/**
 * Waits for what is done at a path that the server has made up: a refusal there names the path of the request (DENY-2), as
 * the other may hold values of documents that the requester may not read (COMP-148).
 *
 * @throws Fault
 */
export async function refusingRequest<T>(done: Promise<T>, refusal: () => Fault): Promise<T> {
  try {
    return await done
  } catch (error) {
    throw error instanceof Fault && error.details.refused ? refusal() : error
  }
}

/**
 * A client's selector, compiled.
 *
 * @param site whose schemas `:isa()` goes by (COMP-138)
 * @throws Fault 422 when it does not parse (HTTP-47)
 */
export function toSelector(text: string, site: { selectors: Extensions }): Selector {
  try {
    return selectorFor(text, site.selectors)
  } catch (error) {
    if (error instanceof SelectorError) throw invalidSelector(error)
    throw error
  }
}

export function invalidSelector(error: SelectorError): Fault {
  return new Fault(422, 'InvalidSelector', `The selector cannot be used: ${error.message}.`)
}
