/** Failures as problem details (RFC 9457), for clients that prefer JSON to a page (HTTP-170, DAV-100). */

import type { Fault } from '../fault.ts'
import { namedQuality } from './accept.ts'
import { statusLine } from './error-article.ts'

export const PROBLEM = 'application/problem+json'

/** Whether a client names JSON and wants it more than HTML; wildcards name nothing. */
export function prefersJson(accept: string | undefined): boolean {
  const json = Math.max(namedQuality(accept, PROBLEM), namedQuality(accept, 'application/json'))
  return json > 0 && json > namedQuality(accept, 'text/html')
}

/**
 * @param errorNs base URI of the types of failures
 * @param members of its own, which may also replace what the fault says
 * @returns the document: the kind as the type, and what the fault carries
 */
export function problemDetails(fault: Fault, errorNs: string, members: Readonly<Record<string, unknown>> = {}): string {
  const { status, kind, message, details } = fault
  const { failure, violations, precondition } = details
  const name = typeof members.kind === 'string' ? members.kind : kind
  return JSON.stringify({
    type: `${errorNs}/${name}`,
    title: statusLine(status).replace(/^\d+ /, ''),
    status,
    detail: message,
    kind: name,
    ...(failure && { failure }),
    ...(violations && { violations }),
    ...(precondition && { precondition: precondition.code, ...(precondition.paths && { paths: precondition.paths }) }),
    ...members,
  })
}
