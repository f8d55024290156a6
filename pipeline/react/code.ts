/** What a chain asks of the languages; each is connected by a module of its own. */

import { type CodeFailure, Fault } from '../fault.ts'
import { toldFailure } from '../language/told.ts'
import { budgetFault, isSpent } from '../model/code.ts'
import type { RawCode } from '../model/declarations.ts'
import type { ContextValue } from './context.ts'
import type { ThrownResponse } from './thrown.ts'

/** Where a piece of code stands. */
export interface CodeSite {
  code: RawCode
  context: ContextValue
  /** Document that declares it. */
  path: string
}

/** What became of it. */
export type Ran<T> = { value: T } | { failure: CodeFailure } | { response: ThrownResponse }

/** One language, as the code of one request is run. Each function may throw AllowanceSpent. */
export interface ReactionLanguage {
  /** Whether code of this item type is written in it. */
  speaks(type: string): boolean
  /** REA-30: the language's own truth value. */
  gate(at: CodeSite): Promise<Ran<boolean>>
  /** REA-31. */
  action(at: CodeSite): Promise<Ran<void>>
  /** REA-81: text; null where the property is absent. */
  property(at: CodeSite): Promise<Ran<string | null>>
}

/** A response that code has thrown, on its way through the chain. */
export class Responded extends Error {
  readonly response: ThrownResponse

  constructor(response: ThrownResponse) {
    super('The code has answered.')
    this.response = response
  }
}

/**
 * The value of code.
 *
 * @param source of the code
 * @throws Responded; Fault 500 or 503 (REA-55)
 */
export function resultOf<T>(ran: Ran<T>, source = ''): T {
  if ('value' in ran) return ran.value
  if ('response' in ran) throw new Responded(ran.response)
  throw failureFault(toldFailure(ran.failure, source))
}

function failureFault(failure: CodeFailure): Fault {
  if (isSpent(failure)) return budgetFault(failure)
  return new Fault(500, 'BindingFailure', `The code of a reaction has failed: ${failure.message}`, { failure })
}
