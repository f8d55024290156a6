/** How a page fails that cannot be put together (COMP-130, COMP-131); messages never show content of other documents. */

import { Fault } from '../fault.ts'
import { AllowanceSpent } from '../language/allowance.ts'

/** A defect of the page or the site. */
export function compositionError(message: string, status = 500): Fault {
  return new Fault(status, 'CompositionError', message)
}

/** A page that takes more than a request may spend (HTTP-172). */
export function tooMuch(message: string): Fault {
  return new Fault(503, 'BudgetExceeded', message)
}

/**
 * A failure of one part of a page: what its reader may not see must not show whether it has failed (SEC-6).
 *
 * @param hasOwnAllowance a spent allowance is a failure of the part, which had one of its own
 * @returns undefined for what ends more than the part
 */
export function failureOfPart(error: unknown, hasOwnAllowance: boolean): Fault | undefined {
  const fault = asFault(error)
  if (!(fault instanceof Fault)) return undefined
  return fault.status !== 503 || (hasOwnAllowance && fault.kind === 'BudgetExceeded') ? fault : undefined
}

/** What ends a composition, as the answer says it. */
export function asFault(error: unknown): unknown {
  if (error instanceof AllowanceSpent) return tooMuch(error.message)
  if (error instanceof Fault && error.kind === 'InvalidFragment') return compositionError(error.message)
  return error
}

/** The name of a directive for a message, whatever its author has written. */
export function named(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name
}
