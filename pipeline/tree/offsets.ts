/** Offsets of nodes that move in their source. */

import { type ChildNode, isElement, type SourcePlace } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** Moves nodes and all below them, in steps between which nobody else may look at them. */
export function* shiftingNodes(nodes: readonly ChildNode[], distance: number): Steps<void> {
  if (distance === 0) return
  const lists = [nodes]
  let shifted = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    for (const node of list) {
      if (++shifted % NODES_PER_STEP === 0) yield
      shiftAlone(node, distance)
      if (!isElement(node)) continue
      lists.push(node.childNodes)
      if (node.content) lists.push(node.content.childNodes)
    }
  }
}

/** Moves a node without its children. */
function shiftAlone({ sourceCodeLocation: place }: ChildNode, distance: number): void {
  if (!place) return
  shiftStart(place, distance)
  shiftEnd(place, distance)
}

export function shiftStart(place: SourcePlace, distance: number): void {
  place.startOffset += distance
  if (place.startTag) {
    place.startTag.startOffset += distance
    place.startTag.endOffset += distance
  }
}

export function shiftEnd(place: SourcePlace, distance: number): void {
  place.endOffset += distance
  if (place.endTag) {
    place.endTag.startOffset += distance
    place.endTag.endOffset += distance
  }
}
