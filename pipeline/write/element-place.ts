/** Where an element of a page is in the stored tree of its document. */

import type { Key } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { Origin } from '../read/representation.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'

/** What is put together for a page and stored nowhere: 416. */
export function nowhere(): Fault {
  return new Fault(416, 'SelectorNoMatch', 'The element is put together for this page and stored nowhere.')
}

/** How the element of a document's own tree is found that stands where one of another tree of the same text does. */
export function placeOf({ tree, element }: Origin): (document: TreeDocument) => Key {
  const start = element.sourceCodeLocation?.startOffset
  return document => {
    if (tree === document) return { element, document }
    if (start === undefined) throw nowhere()
    // A formatting element that is left open stands in the tree once more for each block behind it, with the same place.
    const at = placeAmong(elementsAt(tree, start, element.tagName), element)
    const found = elementAt(document, start, element.tagName, at)
    if (!found) throw nowhere()
    return { element: found, document }
  }
}

function placeAmong(all: Iterable<ElementNode>, element: ElementNode): number {
  let place = 0
  for (const each of all) {
    if (each === element) break
    place++
  }
  return place
}

/** Elements of a tree of composition and of the stored one come from the same tags. */
function elementAt(document: TreeDocument, start: number, tagName: string, at: number): ElementNode | undefined {
  let first: ElementNode | undefined
  let passed = 0
  for (const each of elementsAt(document, start, tagName)) {
    if (passed++ === at) return each
    first ??= each
  }
  return first
}

/** In document order, found as they are asked for. */
function* elementsAt({ root }: TreeDocument, start: number, tagName: string): Generator<ElementNode> {
  const open: ParentNode[] = [root]
  const places = [0]
  while (open.length > 0) {
    const level = open.length - 1
    const node = open[level]?.childNodes[places[level] ?? 0]
    places[level] = (places[level] ?? 0) + 1
    if (!node) {
      open.pop()
      places.pop()
    } else if (isElement(node)) {
      if (node.sourceCodeLocation?.startOffset === start && node.tagName === tagName) yield node
      open.push(node)
      places.push(0)
    }
  }
}
