/** Finding nodes again in a tree that was parsed anew. */

import { type AnyNode, type ChildNode, isElement, isText, type ParentNode } from '../../tree/nodes.ts'

/** Nodes of one tree by the nodes of an equal one. */
export type Counterparts = ReadonlyMap<AnyNode, AnyNode>

/**
 * Walks two equal lists of siblings side by side.
 *
 * @param wanted nodes of `expected` or below, or contents of templates there
 * @returns what stands for them in `actual`; text that was joined to other text stands for its parts
 */
export function counterparts(expected: ChildNode[], actual: ChildNode[], wanted: Iterable<AnyNode>): Counterparts {
  const missing = new Set(wanted)
  const found = new Map<AnyNode, AnyNode>()
  const pair = (a: AnyNode, b: AnyNode): void => {
    if (missing.delete(a)) found.set(a, b)
  }
  const walk = (as: ChildNode[], bs: ChildNode[]): void => {
    let j = 0
    for (let i = 0; i < as.length && missing.size > 0; ) {
      const text = bs[j]
      const run = text && isText(text)
      for (let a = as[i]; a && isText(a); a = as[++i]) if (run) pair(a, text)
      while (bs[j] && isText(bs[j] as ChildNode)) j++
      const a = as[i++]
      const b = bs[j++]
      if (!a || !b) return
      pair(a, b)
      if (!isElement(a) || !isElement(b)) continue
      walk(a.childNodes, b.childNodes)
      if (!a.content || !b.content) continue
      pair(a.content, b.content)
      walk(a.content.childNodes, b.content.childNodes)
    }
  }
  walk(expected, actual)
  return found
}

/** @returns the counterparts of the nodes that have one, each once */
export function childrenFound(found: Counterparts, nodes: ChildNode[]): ChildNode[] {
  const list = new Set<ChildNode>()
  for (const node of nodes) {
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
