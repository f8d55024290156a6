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
  // A formatting element that is left open stands in the tree once more for each block behind it, with the same place.
  const at = start === undefined ? 0 : elementsAt(tree, start, element.tagName).indexOf(element)
  return document => {
    if (tree === document) return { element, document }
    const found = start === undefined ? undefined : elementAt(document, start, element.tagName, at)
    if (!found) throw nowhere()
    return { element: found, document }
  }
}

/** Elements of a tree of composition and of the stored one come from the same tags. */
function elementAt(document: TreeDocument, start: number, tagName: string, at: number): ElementNode | undefined {
  const found = elementsAt(document, start, tagName)
  return found[at] ?? found[0]
}

/** In document order. */
function elementsAt({ root }: TreeDocument, start: number, tagName: string): ElementNode[] {
  const found: ElementNode[] = []
  const open = [{ parent: root as ParentNode, next: 0 }]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.parent.childNodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    if (node.sourceCodeLocation?.startOffset === start && node.tagName === tagName) found.push(node)
    open.push({ parent: node, next: 0 })
  }
  return found
}
