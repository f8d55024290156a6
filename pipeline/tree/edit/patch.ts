/** Changes of child lists that can be taken back: how a proposed tree is shown without being the document yet. */

import { type ChildNode, type ElementNode, isElement, type ParentNode } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'

/** A stretch of a child list that is replaced. Positions are those of the list before any change. */
export interface ListChange {
  parent: ParentNode
  from: number
  to: number
  nodes: ChildNode[]
}

interface List {
  parent: ParentNode
  before: ChildNode[]
  after: ChildNode[]
}

interface Link {
  node: ElementNode
  before: ParentNode
  after: ParentNode | null
}

export interface Patch {
  lists: List[]
  /** Elements that stand elsewhere afterwards, or nowhere. */
  links: Link[]
}

/**
 * Prepares changes, in steps; nothing of the tree is changed yet. An element may leave one place and come in at another.
 * What is new names its parent at once, and text and comments that go still name theirs: there may be a million of them,
 * and a patch is applied and taken back without a pause.
 *
 * @param changes stretches that do not overlap, in any order
 */
export function* preparingPatch(changes: ListChange[]): Steps<Patch> {
  const lists = new Map<ParentNode, List>()
  const links = new Map<ChildNode, Link>()
  let seen = 0
  for (const { parent, from, to, nodes } of [...changes].sort((a, b) => b.from - a.from || b.to - a.to)) {
    const list = lists.get(parent) ?? { parent, before: parent.childNodes, after: parent.childNodes }
    list.after = exchanged(list.after, from, to, nodes)
    lists.set(parent, list)
    for (const node of parent.childNodes.slice(from, to)) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (isElement(node)) links.set(node, { node, before: parent, after: null })
    }
  }
  for (const { parent, nodes } of changes) {
    for (const node of nodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      const link = links.get(node)
      if (link) link.after = parent
      else node.parentNode = parent
    }
  }
  return { lists: [...lists.values()], links: [...links.values()] }
}

/** Nodes that are passed as arguments. */
const FEW = 1000

/** A list in which a stretch is replaced; of long lists every further copy would be garbage that shows. */
function exchanged(list: ChildNode[], from: number, to: number, nodes: ChildNode[]): ChildNode[] {
  if (nodes.length <= FEW) return list.toSpliced(from, to - from, ...nodes)
  return list.slice(0, from).concat(nodes, list.slice(to))
}

export function applyPatch(patch: Patch): void {
  for (const { parent, after } of patch.lists) parent.childNodes = after
  for (const { node, after } of patch.links) node.parentNode = after
}

function revertPatch(patch: Patch): void {
  for (const { parent, before } of patch.lists) parent.childNodes = before
  for (const { node, before } of patch.links) node.parentNode = before
}

/** Runs a function on the changed tree and takes the changes back, also when it throws. */
export function withPatch<T>(patch: Patch, run: () => T): T {
  applyPatch(patch)
  try {
    return run()
  } finally {
    revertPatch(patch)
  }
}

/** `withPatch` for work in steps, also when it is broken off. */
export function* workingWithPatch<T>(patch: Patch, work: Steps<T>): Steps<T> {
  applyPatch(patch)
  try {
    return yield* work
  } finally {
    revertPatch(patch)
  }
}
