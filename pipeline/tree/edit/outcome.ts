/**
 * Edits that no text writes, such as `p` in `p`: the parsed text is the document then, and what changed is found by
 * comparing.
 */

import { comparing } from '../compare.ts'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  isElement,
  isText,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { parsingAlike } from '../readings.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { refusing } from './error.ts'
import { holding } from './holding.ts'
import { changedSource, type Plan, type PlannedSplice } from './plan.ts'
import { contentOf } from './shape.ts'
import type { Attempts } from './whole.ts'

export interface EditOutcome {
  parsed: TreeDocument
  /** What the new text became, wherever it stands. */
  nodes: ChildNode[]
  /** The innermost element outside of which nothing changed. */
  parents: ParentNode[]
  /** What is not as it was of its children, the new nodes among it. */
  reread: ChildNode[]
  /** Whether its children that the edit is not about are as they were. */
  keepsOthers: boolean
}

/**
 * Takes, in steps, the parsed text for the document.
 *
 * @throws EditError when it breaks a limit or is not well formed
 */
export function* findingOutcome(
  { document, refused }: Attempts,
  plan: Plan,
  changes: PlannedSplice[],
): Steps<EditOutcome> {
  const source = changedSource(document.source, changes)
  const parsed = refused.get(source) ?? (yield* refusing(parsingAlike(document, source)))
  const nodes = yield* findingNodesIn(parsed.root.childNodes, writtenRanges(changes))
  const { before, parent, reread } = yield* findingChanged(
    document,
    parsed,
    plan.sites.map(({ host }) => host),
  )
  const gone = plan.sites.flatMap(site => site.parent.childNodes.slice(site.index, site.index + site.gone))
  const keepsOthers = yield* keepingOthers([before, parent], gone, nodes, changes)
  return { parsed, nodes, parents: [parent], reread: withNew(reread, nodes), keepsOthers }
}

/**
 * Whether an element has the children that it had, but for those that the edit is about, in steps. Text beside new nodes may
 * have become one with theirs.
 *
 * @param element before and after
 * @param gone what is removed, replaced or moved away
 * @param nodes what the new text became
 */
function* keepingOthers(
  [before, after]: readonly [ParentNode, ParentNode],
  gone: readonly ChildNode[],
  nodes: readonly ChildNode[],
  changes: readonly PlannedSplice[],
): Steps<boolean> {
  const without = (list: readonly ChildNode[], own: readonly ChildNode[]) => {
    const known = new Set(own)
    return list.filter(node => !isText(node) && !known.has(node))
  }
  if (!(yield* comparing(without(before.childNodes, gone), without(after.childNodes, nodes)))) return false
  return !(yield* takingInOthers(changes, without(nodes, [])))
}

/** What is not as it was, with the new nodes that do not stand in it. */
export function withNew(reread: readonly ChildNode[], nodes: readonly ChildNode[]): ChildNode[] {
  const known = new Set<AnyNode>(reread)
  const isIn = (node: ChildNode): boolean => {
    let at: AnyNode | null = node
    while (at && !known.has(at)) at = 'parentNode' in at ? at.parentNode : null
    return at !== null
  }
  return [...reread, ...nodes.filter(node => !isIn(node))]
}

/**
 * Whether what new nodes became holds more than was written, in steps: the parser has put into them what stood around, or
 * has given them attributes of others.
 *
 * @param changes of a reparsed edit, after which the nodes stand where they do
 */
export function* takingInOthers(changes: readonly PlannedSplice[], nodes: readonly ChildNode[]): Steps<boolean> {
  const ranges = writtenRanges(changes)
  return yield* holding(nodes, node => {
    const place = node.sourceCodeLocation
    if (place && !ranges.some(([from, to]) => place.startOffset >= from && place.endOffset <= to)) return true
    // Of these a document has one, which takes the attributes of all start tags.
    return isElement(node) && (node.tagName === 'html' || node.tagName === 'body')
  })
}

export function writtenRanges(changes: readonly PlannedSplice[]): [number, number][] {
  let distance = 0
  return changes.map(({ start, end, text }) => {
    const from = start + distance
    distance += text.length - (end - start)
    return [from, from + text.length]
  })
}

/** The topmost nodes that begin in one of these ranges, in tree order. */
function* findingNodesIn(nodes: readonly ChildNode[], ranges: [number, number][]): Steps<ChildNode[]> {
  const found: ChildNode[] = []
  const open = [{ nodes, next: 0 }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (++seen % NODES_PER_STEP === 0) yield
    const start = node?.sourceCodeLocation?.startOffset
    if (!node) open.pop()
    else if (start !== undefined && ranges.some(([from, to]) => start >= from && start < to)) found.push(node)
    else if (isElement(node)) {
      if (node.content) open.push({ nodes: node.content.childNodes, next: 0 })
      open.push({ nodes: node.childNodes, next: 0 })
    }
  }
  return found
}

/**
 * Follows the ancestors of the change down both trees, as long as all beside them is equal.
 *
 * @param hosts whose children were to change
 * @returns the innermost element that holds all that changed, before and after, and what is not as it was of its children
 */
export function* findingChanged(
  document: TreeDocument,
  parsed: TreeDocument,
  hosts: readonly (ElementNode | undefined)[],
): Steps<{ before: ParentNode; parent: ParentNode; reread: ChildNode[] }> {
  const around = new Set<ParentNode>(ancestorsOf(hosts[0]))
  for (const host of hosts) {
    const line = new Set<ParentNode>(ancestorsOf(host))
    for (const element of around) if (!line.has(element)) around.delete(element)
  }
  let before: ParentNode = document.root
  let after: ParentNode = parsed.root
  for (;;) {
    const index: number = before.childNodes.findIndex(node => isElement(node) && around.has(node))
    const inner: ChildNode | undefined = before.childNodes[index]
    const same: ChildNode | undefined = after.childNodes[index]
    if (!inner || !same || !isElement(inner) || !isElement(same)) break
    const shell = { childNodes: [], content: undefined }
    const equal =
      (yield* comparing(before.childNodes.slice(0, index), after.childNodes.slice(0, index))) &&
      (yield* comparing([{ ...inner, ...shell }], [{ ...same, ...shell }])) &&
      (yield* comparing(before.childNodes.slice(index + 1), after.childNodes.slice(index + 1)))
    if (!equal) break
    before = contentOf(inner)
    after = contentOf(same)
  }
  return { before, parent: after, reread: yield* findingDifferent(before.childNodes, after.childNodes) }
}

/** What stands in a list of siblings between those with which another one begins and ends. */
function* findingDifferent(before: readonly ChildNode[], after: readonly ChildNode[]): Steps<ChildNode[]> {
  const least = Math.min(before.length, after.length)
  function* isSame(a: ChildNode | undefined, b: ChildNode | undefined): Steps<boolean> {
    // Of many short ones none would take a step of its own.
    yield
    return yield* comparing(a ? [a] : [], b ? [b] : [])
  }
  let from = 0
  while (from < least && (yield* isSame(before[from], after[from]))) from++
  let behind = 0
  while (behind < least - from && (yield* isSame(before.at(-1 - behind), after.at(-1 - behind)))) behind++
  return after.slice(from, after.length - behind)
}

function ancestorsOf(element: ElementNode | undefined): ElementNode[] {
  const line: ElementNode[] = []
  for (let node: ParentNode | null | undefined = element; node && isElement(node); node = node.parentNode)
    line.push(node)
  return line
}
