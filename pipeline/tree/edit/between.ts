/** What stands in a source between the tags and comments that nodes came from: text, and tags that the parser passed over. */

import { type ChildNode, type ElementNode, isElement } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { contentOf, isLiteral } from './shape.ts'

interface Level {
  nodes: readonly ChildNode[]
  next: number
  element?: ElementNode
}

/**
 * Goes through the source of nodes, in steps. Contents of scripts and of other elements in which no tag counts are left out.
 *
 * @param visit is given each piece, and the elements that it stands in, outermost first
 */
export function* betweenTags(
  nodes: readonly ChildNode[],
  source: string,
  visit: (text: string, within: readonly ElementNode[]) => void,
): Steps<void> {
  const within: ElementNode[] = []
  let cursor = 0
  const pass = (to: number): void => {
    if (to <= cursor) return
    visit(source.slice(cursor, to), within)
    cursor = to
  }
  const enter = ({ sourceCodeLocation: place }: ElementNode): void => {
    if (!place) return
    pass(place.startOffset)
    cursor = place.startTag?.endOffset ?? cursor
  }
  const leave = (element: ElementNode): void => {
    const place = element.sourceCodeLocation
    const end = place?.endTag
    const isShell = element.tagName === 'body' || element.tagName === 'html'
    if (end && !isShell) {
      if (!isLiteral(element)) pass(end.startOffset)
      cursor = end.endOffset
    } else if (place && isLiteral(element)) cursor = place.endOffset
    else if (place && !isShell) pass(place.endOffset)
  }
  const open: Level[] = [{ nodes, next: 0 }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (++seen % NODES_PER_STEP === 0) yield
    if (!node) {
      open.pop()
      if (!level.element) continue
      leave(level.element)
      within.pop()
    } else if (isElement(node)) {
      enter(node)
      within.push(node)
      open.push({ nodes: isLiteral(node) ? [] : contentOf(node).childNodes, next: 0, element: node })
    } else if (node.nodeName !== '#text' && node.sourceCodeLocation) {
      pass(node.sourceCodeLocation.startOffset)
      cursor = node.sourceCodeLocation.endOffset
    }
  }
  pass(source.length)
}
