/** Preconditions of requests on the mount: they compare with what the mount shows (DAV-41, DAV-42). */

import {
  type Conditions,
  type Dated,
  evaluateWrite,
  preconditionFailed,
  readConditions,
} from '../../pipeline/http/conditions.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { shownSeconds } from '../../pipeline/store/tags.ts'
import { asSeen } from '../access/visibility.ts'
import type { Exchange } from '../exchange.ts'
import type { Node } from '../places/place.ts'
import { memberTag } from './answer-tags.ts'

type Conditional = Pick<Exchange, 'request' | 'submitted' | 'author' | 'mount'>

/**
 * Files go by their content tag and collections by their stat tag, as in listings and in `If` (DAV-89).
 *
 * @throws Fault 412, with that tag as it is now
 */
export async function checkConditions(exchange: Conditional, node: Node | undefined): Promise<void> {
  const conditions = readConditions(exchange.request.headers)
  if (!conditions) return
  const relaxed = node?.place.isNew && exchange.submitted.size > 0 ? withoutAbsence(conditions) : conditions
  const resource = node && (await asSeen(exchange, node)).resource
  const tag = resource && memberTag(resource)
  const verdict = evaluateWrite(relaxed, {
    exists: node !== undefined,
    tags: tag === undefined ? [] : [tag],
    ...(resource && datesOf(resource)),
  })
  if (verdict !== 'proceed') throw preconditionFailed(tag)
}

/** What dates of a condition are compared with (DAV-41). */
export function datesOf(resource: Resource): Dated {
  const { sameSecond, modified, shownLater } = resource
  return { lastModified: shownSeconds(resource) * 1000, sameSecond, committed: modified, shownLater }
}

function withoutAbsence(conditions: Conditions): Conditions {
  if (conditions.ifNoneMatch !== '*') return conditions
  const { ifNoneMatch: _, ...rest } = conditions
  return rest
}
