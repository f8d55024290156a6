/**
 * Edits in words: what was done to a document, so that whoever has an equal tree can do the same. Elements are named by
 * where they stand.
 */

import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import type { Edit } from './edit.ts'

/** From the document down: how many elements stand before each one among the children of its parent. */
type SourcePlace = readonly number[]

type Recorded<E> = { [K in keyof E]: E[K] extends ElementNode ? SourcePlace : E[K] }
type OfEach<E> = E extends unknown ? Recorded<E> : never

/** An edit that is not tied to one tree; plain data. */
export type EditRecord = OfEach<Edit>

/**
 * @param wanted of elements of a tree as it is now
 * @returns undefined for elements inside of contents of templates
 */
export function recordEdit(wanted: Edit): EditRecord | undefined {
  if (wanted.op === 'insert') {
    const anchor = placeOf(wanted.anchor)
    return anchor && { ...wanted, anchor }
  }
  if (wanted.op === 'move') {
    const [source, anchor] = [placeOf(wanted.source), placeOf(wanted.anchor)]
    return source && anchor && { ...wanted, source, anchor }
  }
  const target = placeOf(wanted.target)
  return target && { ...wanted, target }
}

/**
 * The edit as it is made on another tree.
 *
 * @param document equal to the one of which the record was made
 * @returns undefined where nothing stands in a place
 */
export function recalledEdit(document: TreeDocument, record: EditRecord): Edit | undefined {
  if (record.op === 'insert') {
    const anchor = elementAt(document, record.anchor)
    return anchor && { ...record, anchor }
  }
  if (record.op === 'move') {
    const [source, anchor] = [elementAt(document, record.source), elementAt(document, record.anchor)]
    return source && anchor && { ...record, source, anchor }
  }
  const target = elementAt(document, record.target)
  return target && { ...record, target }
}

function placeOf(element: ElementNode): SourcePlace | undefined {
  const place: number[] = []
  let node: ParentNode = element
  while (isElement(node)) {
    const parent: ParentNode | null = node.parentNode
    // Contents do not know their template.
    if (!parent || parent.nodeName === '#document-fragment') return undefined
    let before = 0
    for (const child of parent.childNodes) {
      if (child === node) break
      if (isElement(child)) before++
    }
    place.push(before)
    node = parent
  }
  return place.reverse()
}

function elementAt(document: TreeDocument, place: SourcePlace): ElementNode | undefined {
  let node: ParentNode = document.root
  for (const before of place) {
    const next: ElementNode | undefined = nthElement(node, before)
    if (!next) return undefined
    node = next
  }
  return isElement(node) ? node : undefined
}

function nthElement(parent: ParentNode, before: number): ElementNode | undefined {
  let seen = 0
  for (const child of parent.childNodes) if (isElement(child) && seen++ === before) return child
  return undefined
}
