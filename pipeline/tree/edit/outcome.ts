/**
 * Edits that no text writes, such as `p` in `p`: the parsed text is the document then, and what changed is found by
 * comparing.
 */

import { equalNodes } from '../../tree/compare.ts'
import { parsingDocument } from '../../tree/document.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../../tree/nodes.ts'
import type { Steps } from '../../tree/steps.ts'
import { refusing } from './error.ts'
import { type Change, changedSource, type Plan } from './plan.ts'
import { contentOf } from './shape.ts'
import type { Attempts } from './whole.ts'

export interface Outcome {
  parsed: TreeDocument
  /** What the new text became, wherever it stands. */
  nodes: ChildNode[]
  /** The innermost element outside of which nothing changed. */
  parents: ParentNode[]
}

/**
 * Takes, in steps, the parsed text for the document.
 *
 * @throws EditError when it breaks a limit or is not well formed
 */
export function* findingOutcome({ document, refused }: Attempts, plan: Plan, changes: Change[]): Steps<Outcome> {
  const source = changedSource(document.source, changes)
  const parsed = refused.get(source) ?? (yield* refusing(parsingDocument(document.kind, source)))
  const nodes = nodesIn(parsed.root.childNodes, writtenRanges(changes))
  return { parsed, nodes, parents: [changedWithin(document, parsed, plan)] }
}

function writtenRanges(changes: Change[]): [number, number][] {
  let distance = 0
  return changes.map(({ start, end, text }) => {
    const from = start + distance
    distance += text.length - (end - start)
    return [from, from + text.length]
  })
}

/** The topmost nodes that begin in one of these ranges. */
function nodesIn(children: ChildNode[], ranges: [number, number][]): ChildNode[] {
  return children.flatMap(node => {
    const start = node.sourceCodeLocation?.startOffset
    if (start !== undefined && ranges.some(([from, to]) => start >= from && start < to)) return [node]
    if (!isElement(node)) return []
    return [...nodesIn(node.childNodes, ranges), ...(node.content ? nodesIn(node.content.childNodes, ranges) : [])]
  })
}

/** Follows the ancestors of the change down both trees, as long as all beside them is equal. */
function changedWithin(document: TreeDocument, parsed: TreeDocument, plan: Plan): ParentNode {
  const around = new Set<ParentNode>(ancestorsOf(plan.sites[0]?.host))
  for (const { host } of plan.sites) {
    const line = new Set<ParentNode>(ancestorsOf(host))
    for (const element of around) if (!line.has(element)) around.delete(element)
  }
  let before: ParentNode = document.root
  let after: ParentNode = parsed.root
  for (;;) {
    const index: number = before.childNodes.findIndex(node => isElement(node) && around.has(node))
    const inner: ChildNode | undefined = before.childNodes[index]
    const same: ChildNode | undefined = after.childNodes[index]
    if (!inner || !same || !isElement(inner) || !isElement(same)) return after
    const shell = { childNodes: [], content: undefined }
    const equal =
      equalNodes(before.childNodes.slice(0, index), after.childNodes.slice(0, index)) &&
      equalNodes([{ ...inner, ...shell }], [{ ...same, ...shell }]) &&
      equalNodes(before.childNodes.slice(index + 1), after.childNodes.slice(index + 1))
    if (!equal) return after
    before = contentOf(inner)
    after = contentOf(same)
  }
}

function ancestorsOf(element: ElementNode | undefined): ElementNode[] {
  const line: ElementNode[] = []
  for (let node: ParentNode | null | undefined = element; node && isElement(node); node = node.parentNode)
    line.push(node)
  return line
}
