/** Edits written as one line, for tables of cases. */

import type { Edit, Placement } from '../../../../pipeline/tree/edit/edit.ts'
import { type ChildNode, type ElementNode, isElement, type TreeDocument } from '../../../../pipeline/tree/nodes.ts'

/** The element with this id, or else the first with this name. */
export function element(document: TreeDocument, name: string): ElementNode {
  const hasId = (e: ElementNode): boolean => e.attrs.some(a => a.name === 'id' && a.value === name)
  const found = search(document.root.childNodes, hasId) ?? search(document.root.childNodes, e => e.tagName === name)
  if (!found) throw new Error(`no ${name}`)
  return found
}

function search(nodes: ChildNode[], test: (element: ElementNode) => boolean): ElementNode | undefined {
  for (const node of nodes) {
    if (!isElement(node)) continue
    const found = test(node) ? node : search((node.content ?? node).childNodes, test)
    if (found) return found
  }
  return undefined
}

/**
 * @param line `replace NAME TEXT`, `remove NAME`, `PLACEMENT NAME TEXT` or `move NAME PLACEMENT NAME`; a text begins
 *   behind one space
 */
export function command(document: TreeDocument, line: string): Edit {
  const [op = '', name = '', placement, anchor = ''] = line.split(' ')
  const text = line.slice(op.length + name.length + 2)
  const target = element(document, name)
  switch (op) {
    case 'replace':
      return { op, target, text }
    case 'remove':
      return { op, target }
    case 'move':
      return { op, source: target, placement: placement as Placement, anchor: element(document, anchor) }
    default:
      return { op: 'insert', anchor: target, placement: op as Placement, text }
  }
}
