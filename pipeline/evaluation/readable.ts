/** What of a document a visitor's program sees (SES-127). */

import { type Access, RULES_PER_STEP } from '../access/decision.ts'
import { collectingNames } from '../access/needs.ts'
import { cloning } from '../tree/clone.ts'
import { elementsIn } from '../tree/ids.ts'
import type { ChildNode, ElementNode, TreeDocument } from '../tree/nodes.ts'
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
  const methods = ['GET', 'QUERY'].filter(method => access.mayDenyElements(method, path))
  if (methods.length === 0) return document
  return inTurns(leavingOut(access, methods, path, document, spend), document.source.length)
}

/** `readableTree` in steps; exported for tests. */
export function* leavingOut(
  access: Access,
  methods: readonly string[],
  path: string,
  document: TreeDocument,
  spend: (steps: number) => void,
): Steps<TreeDocument> {
  const denied = yield* findingDenied(access, methods, path, document, spend)
  if (denied.size === 0) return document
  const hidden: ChildNode[] = []
  const copy = yield* cloning(document, (node, other) => {
    if (denied.has(node)) hidden.push(other)
  })
  const gone = new Set(hidden)
  // Each of them once, however many of its children are hidden.
  const parents = new Set(hidden.flatMap(({ parentNode }) => parentNode ?? []))
  for (const parent of parents) parent.childNodes = yield* without(parent.childNodes, gone)
  return copy
}

function* findingDenied(
  access: Access,
  methods: readonly string[],
  path: string,
  document: TreeDocument,
  spend: (steps: number) => void,
): Steps<ReadonlySet<ChildNode>> {
  const denied = new Set<ChildNode>()
  let asked = 0
  const ask = (rules: number) => {
    asked += rules
  }
  const names = yield* collectingNames(everyElement(document.root.childNodes))
  const denying = methods.flatMap(method => access.denying(method, path, names, ask) ?? [])
  if (denying.length === 0) return denied
  let seen = 0
  for (const element of everyElement(document.root.childNodes)) {
    seen++
    if (denying.some(isDenied => isDenied({ element, document }))) denied.add(element)
    if (asked < RULES_PER_STEP) continue
    asked = 0
    yield
  }
  spend(seen)
  return denied
}

/** Those in templates as well. */
function* everyElement(nodes: readonly ChildNode[]): Generator<ElementNode, void, void> {
  for (const element of elementsIn(nodes)) {
    yield element
    if (element.content) yield* everyElement(element.content.childNodes)
  }
}

function* without(nodes: readonly ChildNode[], gone: ReadonlySet<ChildNode>): Steps<ChildNode[]> {
  const left: ChildNode[] = []
  for (const [i, node] of nodes.entries()) {
    if (!gone.has(node)) left.push(node)
    if (i % NODES_PER_STEP === 0) yield
  }
  return left
}
