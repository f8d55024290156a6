/** How a page fails that cannot be put together (COMP-130, COMP-131); messages never show content of other documents. */

import { Fault } from '../fault.ts'

/** A defect of the page or the site. */
export function compositionError(message: string, status = 500): Fault {
  return new Fault(status, 'CompositionError', message)
}

/** A page that takes more than a request may spend (HTTP-172). */
export function tooMuch(message: string): Fault {
  return new Fault(503, 'BudgetExceeded', message)
}

/** The name of a directive for a message, whatever its author has written. */
export function named(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name
}
