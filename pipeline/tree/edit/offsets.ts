/** Offsets of a tree after its source changed: everything behind a change moves by the same distance. */

import { type ChildNode, type ElementNode, isElement, type ParentNode } from '../nodes.ts'
import { shiftEnd, shiftingNodes, shiftStart } from '../offsets.ts'
import type { Steps } from '../steps.ts'
import { contentOf } from './shape.ts'

/** A stretch of a tree that has its final offsets already, with what it adds to the length of the source. */
export interface ShiftedRange {
  parent: ParentNode
  /** The element whose children (or template contents) `parent` holds. */
  host: ElementNode
  /** The children that are shifted, as positions in the changed list. */
  from: number
  to: number
  /** Old offset of the end of the change in it. */
  end: number
  distance: number
}

/**
 * Moves everything behind one stretch, or behind and between two, and the ends of the elements around them; in steps.
 *
 * @param first in the order of the source
 */
export function* shiftingBehind(first: ShiftedRange, second?: ShiftedRange): Steps<void> {
  if (!second) {
    yield* shiftingToEnd(first, first.distance)
    return
  }
  const around = new Set<ParentNode>()
  for (let host: ParentNode | null = second.host; host && isElement(host); host = host.parentNode) around.add(host)
  around.add(second.parent)

  let { host, parent, to: index }: Level = first
  while (parent !== second.parent && host && !around.has(host)) {
    yield* shiftingNodes(parent.childNodes.slice(index), first.distance)
    shiftEndBehind(host, first.end, first.distance)
    ;({ host, parent, to: index } = outside(host))
  }
  while (parent !== second.parent) {
    const nodes: ChildNode[] = parent.childNodes
    let branch = nodes[index]
    const from = index
    while (branch && !(isElement(branch) && around.has(branch))) branch = nodes[++index]
    yield* shiftingNodes(nodes.slice(from, index), first.distance)
    if (!branch || !isElement(branch)) break
    if (branch.sourceCodeLocation) shiftStart(branch.sourceCodeLocation, first.distance)
    parent = contentOf(branch)
    index = 0
  }
  yield* shiftingNodes(parent.childNodes.slice(index, second.from), first.distance)
  yield* shiftingToEnd(second, first.distance + second.distance)
}

function* shiftingToEnd(shifted: ShiftedRange, distance: number): Steps<void> {
  if (distance === 0) return
  for (let level: Level = shifted; ; level = outside(level.host)) {
    yield* shiftingNodes(level.parent.childNodes.slice(level.to), distance)
    if (!level.host) return
    shiftEndBehind(level.host, shifted.end, distance)
  }
}

/** A list of children and where in it something ends; the children of the document have no host. */
interface Level {
  host: ElementNode | undefined
  parent: ParentNode
  to: number
}

/** The children behind an element. */
function outside(element: ElementNode): Level {
  const parent = element.parentNode ?? { nodeName: '#document', childNodes: [] }
  return { host: isElement(parent) ? parent : undefined, parent, to: parent.childNodes.indexOf(element) + 1 }
}

/** The end tag of a body may stand before the change. */
function shiftEndBehind(element: ElementNode, changed: number, distance: number): void {
  const place = element.sourceCodeLocation
  if (place && (place.endTag?.startOffset ?? place.endOffset) >= changed) shiftEnd(place, distance)
}
