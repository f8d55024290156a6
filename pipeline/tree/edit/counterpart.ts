/** Finding nodes again in a tree that was parsed anew. */

import { type AnyNode, type ChildNode, isElement, isText, type ParentNode } from '../nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../steps.ts'

/** Nodes of one tree by the nodes of an equal one. */
export type Counterparts = ReadonlyMap<AnyNode, AnyNode>

/** Siblings that are walked side by side. */
interface Level {
  as: ChildNode[]
  bs: ChildNode[]
  i: number
  j: number
}

/**
 * Walks two equal lists of siblings side by side.
 *
 * @param wanted nodes of `expected` or below, or contents of templates there
 * @returns what stands for them in `actual`; text that was joined to other text stands for its parts
 */
export function counterparts(expected: ChildNode[], actual: ChildNode[], wanted: Iterable<AnyNode>): Counterparts {
  return atOnce(findingCounterparts(expected, actual, wanted))
}

/** `counterparts` in steps. */
export function* findingCounterparts(
  expected: ChildNode[],
  actual: ChildNode[],
  wanted: Iterable<AnyNode>,
): Steps<Counterparts> {
  const missing = new Set(wanted)
  const found = new Map<AnyNode, AnyNode>()
  const pair = (a: AnyNode, b: AnyNode): void => {
    if (missing.delete(a)) found.set(a, b)
  }
  const open: Level[] = [{ as: expected, bs: actual, i: 0, j: 0 }]
  let paired = 0
  for (let level = open.at(-1); level && missing.size > 0; level = open.at(-1)) {
    const { as, bs } = level
    if (++paired % NODES_PER_STEP === 0) yield
    const text = bs[level.j]
    const run = text && isText(text)
    for (let a = as[level.i]; a && isText(a); a = as[++level.i]) if (run) pair(a, text)
    while (bs[level.j]?.nodeName === '#text') level.j++
    const a = as[level.i++]
    const b = bs[level.j++]
    if (!a || !b) {
      open.pop()
      continue
    }
    pair(a, b)
    if (!isElement(a) || !isElement(b)) continue
    if (a.content && b.content) {
      pair(a.content, b.content)
      open.push({ as: a.content.childNodes, bs: b.content.childNodes, i: 0, j: 0 })
    }
    if (a.childNodes.length > 0) open.push({ as: a.childNodes, bs: b.childNodes, i: 0, j: 0 })
  }
  return found
}

/** @returns the counterparts of the nodes that have one, each once, in steps */
export function* childrenFound(found: Counterparts, nodes: ChildNode[]): Steps<ChildNode[]> {
  const list = new Set<ChildNode>()
  for (const [at, node] of nodes.entries()) {
    if (at % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const other = found.get(node)
    if (other && 'parentNode' in other) list.add(other)
  }
  return [...list]
}

/** @returns the counterpart of each parent, or itself where it stayed */
export function parentsFound(found: Counterparts, parents: ParentNode[]): ParentNode[] {
  return parents.map(parent => {
    const other = found.get(parent)
    return other && 'childNodes' in other ? other : parent
  })
}
