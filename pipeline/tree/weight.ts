/** What a tree takes in memory. */

import { type ChildNode, type DocumentNode, isElement, type TreeDocument } from './nodes.ts'

/** Bytes of the objects of a node, its place in the source included, and of an attribute. Measured. */
export const ELEMENT = 340
export const LEAF = 130
export const ATTRIBUTE = 70

/** What was weighed: bytes of the nodes, and characters of the text at that time. */
interface Weighed {
  bytes: number
  length: number
}

const weighed = new WeakMap<DocumentNode, Weighed>()

/** An edit in place hardly changes how many bytes there are for a character, until there is so many times as much text. */
const GROWN = 2

/** @returns bytes, about; the text itself, which trees share with their document, is counted as well */
export function treeBytes({ root, source }: TreeDocument): number {
  const length = source.length + 1
  let known = weighed.get(root)
  if (known === undefined || length > known.length * GROWN || length * GROWN < known.length) {
    known = { bytes: nodeBytes(root), length }
    weighed.set(root, known)
  }
  return Math.ceil((known.bytes / known.length + 1) * length)
}

/** What somebody has counted in a tree. */
export interface Counts {
  elements: number
  leaves: number
  attributes: number
}

/** Notes what is in a tree that somebody has gone through in steps, so that nobody has to do so at once. */
export function noteCounts(root: DocumentNode, source: string, { elements, leaves, attributes }: Counts): void {
  const bytes = ELEMENT * elements + LEAF * leaves + ATTRIBUTE * attributes
  weighed.set(root, { bytes, length: source.length + 1 })
}

/** Notes that a copy weighs as much as its original. */
export function noteCopy(copy: DocumentNode, original: DocumentNode): void {
  const known = weighed.get(original)
  if (known) weighed.set(copy, known)
}

function nodeBytes(root: DocumentNode): number {
  let bytes = 0
  const open: ChildNode[] = [...root.childNodes]
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) {
      bytes += LEAF
      continue
    }
    bytes += ELEMENT + ATTRIBUTE * node.attrs.length
    for (const child of node.childNodes) open.push(child)
    for (const child of node.content?.childNodes ?? []) open.push(child)
  }
  return bytes
}
