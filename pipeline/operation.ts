/**
 * Core processing of one request as a value, and the pipeline that runs it (HTTP-1, REA-10). Whoever makes an operation
 * has passed gates 1 to 7: the request is well formed. Every write to a document is one, whether a request makes it, the
 * mount, or code. Writes of whole trees are none: only the mount makes them, no rule decides them and nothing reads their
 * answers, so `write/collection.ts` has functions for them.
 */

import type { Answer } from './answer.ts'
import type { BodySource } from './body.ts'
import { Fault } from './fault.ts'
import type { ElementNode, TreeDocument } from './tree/nodes.ts'
import { SelectorError } from './tree/selector/selector.ts'

/** Gates 8 and 10 to 12 of HTTP-1, in their order; `kind` and `existence` are both gate 10. */
export type GateName = 'authorization' | 'existence' | 'kind' | 'target' | 'preconditions' | 'locks'

/** Lets a request through, or throws the Fault that answers it. It changes nothing, so that it may be asked again. */
export interface Gate<Found, Passing = void | Promise<void>> {
  readonly name: GateName
  pass(found: Found): Passing
}

/**
 * Passes gates in the order in which they are listed.
 *
 * @throws Fault of the first that fails
 */
export async function passGates<Found>(gates: readonly Gate<Found>[], found: Found): Promise<void> {
  for (const gate of gates) {
    const passing = gate.pass(found)
    if (passing) await passing
  }
}

/** Passes gate 8 alone. @throws Fault 401 or 403 */
export function authorize<Found>(gates: readonly Gate<Found>[], found: Found): Promise<void> {
  return passGates(
    gates.filter(({ name }) => name === 'authorization'),
    found,
  )
}

/** What is known of a request that is authorized. */
export interface Admitted {
  /**
   * What its selector addresses in what is seen at the path (REA-23); undefined for a request without a selector, and where
   * nothing may be seen.
   */
  addressed?: AddressedElements
}

/** Elements of what one reader sees at a path: of a POST the anchor, of one beside it the parent as well, of a MOVE the source. */
export interface AddressedElements {
  view: SeenPage
  elements: readonly ElementNode[]
  /** Of a POST beside an element the parent that it comes into, as it is stored in the document of the page. */
  into?: ElementNode | undefined
}

/** A document as one reader sees it, as far as it says where its elements come from. */
export interface SeenPage {
  readonly file: StoredVersion
  readonly tree: TreeDocument
  /** The path is served by a route. */
  readonly routed: boolean
  /** Undefined for an element that is stored nowhere. */
  originOf(element: ElementNode): { file: StoredVersion; element: ElementNode } | undefined
}

interface StoredVersion {
  readonly resource: { readonly path: string; readonly version: number }
}

export interface Operation {
  /**
   * Gate 8, elements included (HTTP-6), without anything behind it: what is absent is told by `carryOut`. May be asked
   * again.
   *
   * @param body asked for where the selector stands in it
   * @throws Fault 401 or 403 of a refusal; anything else says that the search itself has failed
   */
  admit(body: BodySource): Promise<Admitted>
  /**
   * Gates 8 and 10 to 13: looks anew, reads the body, and commits what passes all gates again inside the commit (HTTP-4).
   *
   * @param body asked for when everything before it is passed, and only by operations that need one
   * @param guard asked about the elements that are found now: others may have come into their place
   * @throws Fault; then nothing was changed
   */
  carryOut(body: BodySource, guard?: Guard): Promise<Answer>
}

/**
 * Asks the triggers of elements again (REA-23).
 *
 * @returns false where the document has changed since the elements were found in it
 * @throws Fault 503 where there is one that has not run
 */
export type Guard = (addressed: AddressedElements) => Promise<boolean>

/** What a site has run around core processing. */
export interface Reactions {
  /** False where `before` has nothing to do: then one look serves gate 8 and the rest. */
  actsBefore: boolean
  /**
   * Gate 9: triggers.
   *
   * @returns the body that core processing gets, the answer that takes its place, or undefined where what is stored has
   *   changed since it was asked for
   * @throws Fault that ends the request
   */
  before(admitted: Admitted, body: BodySource): Promise<{ body: BodySource } | { answer: Answer } | undefined>
  /** What core processing asks behind it; undefined where no trigger goes by elements. */
  guard?: Guard | undefined
  /** Processors, over the answer of core processing whatever its status. */
  after(answer: Answer): Promise<Answer>
  /** A failure as the answer that it would be. */
  toAnswer(failure: unknown): Answer
}

/** Looks for the element of a request in a document that goes on changing before the client is told to come again. */
const LOOKS = 50

/**
 * Runs an operation. Without reactions there is nothing between gate 8 and the rest, and one look serves them both.
 *
 * @param body with reactions one that can be read again and again
 * @throws Fault of the operation; with reactions, of a refusal alone, and 503 where the document changes with every look
 */
export async function perform(operation: Operation, body: BodySource, reactions?: Reactions): Promise<Answer> {
  if (!reactions) return operation.carryOut(body)
  const answered = (failure: unknown): Answer => {
    // A refused request runs no processor (DEC-5).
    if (isRefusal(failure)) throw failure
    return reactions.toAnswer(failure)
  }
  let given = body
  if (reactions.actsBefore) {
    let before: Awaited<ReturnType<Reactions['before']>>
    let looks = 0
    let failed: SelectorError | undefined
    do {
      failed = undefined
      if (++looks > LOOKS) {
        const message = 'The document changes faster than its element can be found. Try again in a moment.'
        throw new Fault(503, 'Unavailable', message, { headers: { 'Retry-After': '1' } })
      }
      const admitted = await operation.admit(body).catch((failure: unknown): Admitted | Answer => {
        if (!(failure instanceof SelectorError)) return answered(failure)
        // That it fails here tells what is in the document (COMP-139), which triggers may keep from the requester (REA-22).
        failed = failure
        return {}
      })
      // What has failed before triggers skips them, but not the processors (HTTP-6).
      if ('status' in admitted) return reactions.after(admitted)
      before = await reactions.before(admitted, body)
    } while (!before)
    if ('answer' in before) return before.answer
    if (failed) return reactions.after(answered(failed))
    given = before.body
  }
  const answer = await operation.carryOut(given, reactions.guard).catch(answered)
  // A stream is never complete (REA-6).
  return answer.stream ? answer : reactions.after(answer)
}

function isRefusal(failure: unknown): boolean {
  return failure instanceof Fault && failure.details.refused !== undefined
}
