/** Edits written as one line, for tables of cases. */

import type { Edit, Placement } from '../../../pipeline/tree/edit/edit.ts'
import type { ElementNode, TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { elementsOf } from '../samples.ts'

/** The element with this id, or else the first with this name. */
export function element(document: TreeDocument, name: string): ElementNode {
  const all = elementsOf(document.root)
  const hasId = (e: ElementNode): boolean => e.attrs.some(a => a.name === 'id' && a.value === name)
  const found = all.find(hasId) ?? all.find(e => e.tagName === name)
  if (!found) throw new Error(`no ${name}`)
  return found
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
