/** What of a document a visitor's program sees (SES-127). */

import type { Access } from '../access/decision.ts'
import { cloning } from '../tree/clone.ts'
import { type ChildNode, type ElementNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/**
 * A document without the elements that a rule with a selector denies to be read or queried.
 *
 * @param spend counts the elements that are asked about
 * @returns the document itself where there is no such rule
 */
export function readableTree(
  access: Access,
  path: string,
  document: TreeDocument,
  spend: (steps: number) => void,
): TreeDocument | Promise<TreeDocument> {
  const denying = ['GET', 'QUERY'].flatMap(method => access.denying(method, path) ?? [])
  if (denying.length === 0) return document
  return inTurns(
    leavingOut(document, element => denying.some(denied => denied({ element, document })), spend),
    document.source.length,
  )
}

function* leavingOut(
  document: TreeDocument,
  isDenied: (element: ElementNode) => boolean,
  spend: (steps: number) => void,
): Steps<TreeDocument> {
  const hidden: ChildNode[] = []
  let seen = 0
  const copy = yield* cloning(document, (node, other) => {
    if (isElement(node) && isDenied(node)) hidden.push(other)
    seen++
  })
  spend(seen)
  const gone = new Set(hidden)
  // Each of them once, however many of its children are hidden.
  const parents = new Set(hidden.flatMap(({ parentNode }) => parentNode ?? []))
  for (const parent of parents) parent.childNodes = yield* without(parent.childNodes, gone)
  return copy
}

function* without(nodes: readonly ChildNode[], gone: ReadonlySet<ChildNode>): Steps<ChildNode[]> {
  const left: ChildNode[] = []
  for (const [i, node] of nodes.entries()) {
    if (!gone.has(node)) left.push(node)
    if (i % NODES_PER_STEP === 0) yield
  }
  return left
}
