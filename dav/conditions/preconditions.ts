/** Preconditions of requests on the mount: they compare with what the mount shows (DAV-41, DAV-42). */

import { type Conditions, evaluateWrite, preconditionFailed, readConditions } from '../../pipeline/http/conditions.ts'
import { contentTag, shownSeconds } from '../../pipeline/store/tags.ts'
import type { Exchange } from '../exchange.ts'
import { isCollection, type Node } from '../places/place.ts'

/**
 * @throws Fault 412, with the content tag as it is now
 */
export function checkConditions(exchange: Pick<Exchange, 'request' | 'submitted'>, node: Node | undefined): void {
  const conditions = readConditions(exchange.request.headers)
  if (!conditions) return
  const relaxed = node?.place.isNew && exchange.submitted.size > 0 ? withoutAbsence(conditions) : conditions
  const tag = node && !isCollection(node) ? contentTag(node.resource.digest) : undefined
  const verdict = evaluateWrite(relaxed, {
    exists: node !== undefined,
    tags: tag === undefined ? [] : [tag],
    ...(node && { lastModified: shownSeconds(node.resource) * 1000, sameSecond: node.resource.sameSecond }),
  })
  if (verdict !== 'proceed') throw preconditionFailed(tag)
}

function withoutAbsence(conditions: Conditions): Conditions {
  if (conditions.ifNoneMatch !== '*') return conditions
  const { ifNoneMatch: _, ...rest } = conditions
  return rest
}
