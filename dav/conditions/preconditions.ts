/** Preconditions of requests on the mount: they compare with what the mount shows (DAV-41, DAV-42). */

import { type Conditions, evaluateWrite, preconditionFailed, readConditions } from '../../pipeline/http/conditions.ts'
import { contentTag, shownSeconds } from '../../pipeline/store/tags.ts'
import type { Exchange } from '../exchange.ts'
import { isCollection, type Node } from '../places/view.ts'

/**
 * @throws Fault 412, with the content tag as it is now
 */
export function checkConditions(exchange: Pick<Exchange, 'request' | 'submitted'>, node: Node | undefined): void {
  const conditions = readConditions(exchange.request.headers)
  if (!conditions) return
  const relaxed = isUnwritten(node) && exchange.submitted.size > 0 ? withoutAbsence(conditions) : conditions
  const tag = node && !isCollection(node) ? contentTag(node.resource.digest) : undefined
  const verdict = evaluateWrite(relaxed, {
    exists: node !== undefined,
    tags: tag === undefined ? [] : [tag],
    ...(node && { lastModified: shownSeconds(node.resource) * 1000, sameSecond: node.resource.sameSecond }),
  })
  if (verdict !== 'proceed') throw preconditionFailed(tag)
}

/** A draft over nothing: a client made it by its LOCK and still believes that it creates the file (DAV-61). */
function isUnwritten(node: Node | undefined): boolean {
  return node?.keeper === 'draft' && !node.published
}

function withoutAbsence(conditions: Conditions): Conditions {
  if (conditions.ifNoneMatch !== '*') return conditions
  const { ifNoneMatch: _, ...rest } = conditions
  return rest
}
