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
 * @returns undefined for what ends the page in any case, such as a spent budget
 */
export function failureOfPart(error: unknown): Fault | undefined {
  const fault = asFault(error)
  return fault instanceof Fault && fault.status !== 503 ? fault : undefined
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
