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
    const found = start === undefined ? undefined : elementAt(document, start, element.tagName)
    if (!found) throw nowhere()
    return { element: found, document }
  }
}

/** Elements of a tree of composition and of the stored one come from the same tags. */
function elementAt({ root }: TreeDocument, start: number, tagName: string): ElementNode | undefined {
  const open: ParentNode[] = [root]
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const node of parent.childNodes) {
      if (!isElement(node)) continue
      if (node.sourceCodeLocation?.startOffset === start && node.tagName === tagName) return node
      open.push(node)
    }
  }
  return undefined
}
