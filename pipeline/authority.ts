/**
 * Who decides whether a request may do what it asks: rules on the public surface, the scope of a credential on the
 * mount, nobody for the operator's own commands. Handlers ask here and never look at rules themselves.
 */

import type { Admission, ElementsQuestion, Question, WholeQuestion } from './access/admission.ts'
import type { Key } from './access/matching.ts'
import { type ReadableView, wholeView } from './access/readable-view.ts'
import { Fault } from './fault.ts'
import type { TreeDocument } from './tree/nodes.ts'
import type { Steps } from './tree/steps.ts'

/** What a method could be granted on: elements at least, session content alone, or nothing. */
export type Reach = 'elements' | 'session' | 'nothing'

export type { Admission, Key, Question, ReadableView, WholeQuestion }

export interface Authority {
  /**
   * The site's rules this authority decides by, as a counter: the commit asks again when it has moved on (DEC-6).
   * Undefined when rules do not matter.
   */
  readonly accessVersion: number | undefined
  /** What becomes of a request (METH-3). */
  admit(question: Question): Admission
  /** The same in steps, for any number of elements; their trees stay as they are meanwhile. */
  admitting(question: ElementsQuestion): Steps<Admission>
  /**
   * Whether anything on a resource could be granted: where it cannot, nothing is looked for there, and no page is put
   * together (COMP-5, HTTP-6).
   *
   * @returns `session` where no rule matches, so that only what each visitor has a version of is open (DEC-8)
   */
  reach(method: string, path: string): Reach
  /** What the requester's selectors are matched against in a document (SEC-6), in steps. */
  viewing(path: string, document: TreeDocument): Steps<ReadableView>
  /** A request for a directory without its slash (ABS-6): a GET, or a HEAD, which rules of its own may decide (METH-2). */
  admitDirectory(path: string, index: boolean, head: boolean): Admission | 'redirect'
  /** Whether an anonymous visitor would be shown the same (PRIV-1); false keeps an answer out of shared caches. */
  shareable(path: string): boolean
  /** The same for what is shown of elements, in steps. */
  sharing(path: string, keys: readonly Key[]): Steps<boolean>
  /** Whether what is stored at a path may come from visitors whom no rule names. */
  takesFromAnybody(path: string): boolean
  /**
   * What the answers for a path stand on, where every other requester who is nobody in particular gets the same: an
   * object that is another one as soon as a rule changes. Undefined where they depend on the request.
   *
   * @param head to HEAD: rules about that method alone count as well (METH-2)
   */
  repeatable(path: string, head: boolean): object | undefined
  /** The failure that a refusal is (DENY-1). */
  refusal(method: string, path: string): Fault
}

/** Gives the authority over a request, as it stands at each call. */
export interface Authorizing<Given extends Authority = Authority> {
  (): Given
  /**
   * Asks what cannot be asked in the moment of a decision, unless nothing has changed since it was asked last.
   *
   * @param paths that are about to be decided
   */
  settle?(paths: readonly string[]): Promise<void>
  /**
   * Asks whether the requester is still who it was: to be called under the lease of what is written, so that nothing is stored
   * that comes after a sign-out, whichever process has acknowledged that.
   *
   * @throws Fault 503 when nobody can be asked
   */
  confirm?(): void | Promise<void>
  /** Whether nothing has changed since. */
  isSettled?(): boolean
}

/** The operator at the command line, and the server itself: everything is allowed, and absence is told. */
export const fullAuthority: Authority = {
  accessVersion: undefined,
  admit(question) {
    if (question.ask === 'put' || (question.ask === 'post' && question.path.endsWith('/'))) return 'allow'
    if (!question.exists) return 'not-found'
    if (question.ask === 'read-elements') return question.keys.length > 0 ? 'allow' : 'no-match'
    if (question.ask === 'move-element') return question.source && question.anchor ? 'allow' : 'no-match'
    return 'target' in question && !question.target ? 'no-match' : 'allow'
  },
  // biome-ignore lint/correctness/useYield: nothing takes long here
  *admitting(question) {
    return this.admit(question)
  },
  reach: () => 'elements',
  // biome-ignore lint/correctness/useYield: nothing takes long here
  *viewing(_path, document) {
    return wholeView(document)
  },
  admitDirectory: (_path, index) => (index ? 'redirect' : 'not-found'),
  shareable: () => false,
  // biome-ignore lint/correctness/useYield: nothing takes long here
  *sharing() {
    return false
  },
  takesFromAnybody: () => false,
  repeatable: () => undefined,
  refusal: () => new Fault(403, 'Forbidden', 'This is not permitted.'),
}

/** Whether a document that is stored may be replaced as a whole, with all that it may hold then (SEC-8, COMP-147). */
export function mayPut(authority: Authority, path: string): boolean {
  return authority.admit({ ask: 'put', path, exists: true }) === 'allow'
}
