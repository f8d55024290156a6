/** Outcomes of decisions as failures: the one place where refused, absent and unmatched become statuses. */

import type { Admission, Authority } from './authority.ts'
import { Fault } from './fault.ts'
import { type Extensions, type Selector, SelectorError, selectorFor } from './tree/selector/selector.ts'

export function absent(): Fault {
  return new Fault(404, 'NotFound', 'Nothing is stored at this address.')
}

export function noMatch(): Fault {
  return new Fault(416, 'SelectorNoMatch', 'The selector matches no element of this document.')
}

/**
 * @throws Fault unless the outcome is `allow`
 */
export function requireAllowed(outcome: Admission, method: string, path: string, authority: Authority): void {
  if (outcome === 'allow') return
  if (outcome === 'refuse') throw authority.refusal(method, path)
  throw outcome === 'not-found' ? absent() : noMatch()
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
