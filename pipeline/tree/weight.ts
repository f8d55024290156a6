/** What a tree takes in memory. */

import { type ChildNode, type DocumentNode, isElement, type TreeDocument } from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'

/** Bytes of the objects of a node, its place in the source included, and of an attribute. Measured. */
export const ELEMENT = 340
export const LEAF = 130
export const ATTRIBUTE = 70

/** UTF-16 code units of the names and texts of a node, without what is in it. */
export function charactersOf(node: ChildNode): number {
  if (isElement(node))
    return node.attrs.reduce((sum, { name, value }) => sum + name.length + value.length, node.nodeName.length)
  if ('value' in node) return node.value.length
  return 'data' in node ? node.data.length : 0
}

/** What was weighed: bytes of the nodes, and characters of the text at that time. */
interface Weighed {
  bytes: number
  length: number
}

const weighed = new WeakMap<DocumentNode, Weighed>()

/** Where a text has become so many times as long, or as short, its tree is weighed again, whatever was noted of it. */
const GROWN = 2

/** @returns bytes, about; the text itself, which trees share with their document, is counted as well */
export function treeBytes({ root, source }: TreeDocument): number {
  const length = source.length + 1
  let known = weighed.get(root)
  if (known === undefined || length > known.length * GROWN || length * GROWN < known.length) {
    known = { bytes: atOnce(weighing(root.childNodes)), length }
    weighed.set(root, known)
  }
  return known.bytes + length
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

/** Notes that a tree has become so many bytes heavier by an edit in place. */
export function noteGain(root: DocumentNode, gain: number): void {
  const known = weighed.get(root)
  if (known) weighed.set(root, { ...known, bytes: Math.max(0, known.bytes + gain) })
}

/** @returns, in steps, bytes of nodes with all that is in them: a text of the same length may have twenty times as many */
export function* weighing(nodes: readonly ChildNode[]): Steps<number> {
  let bytes = 0
  let seen = 0
  const open: { nodes: readonly ChildNode[]; next: number }[] = [{ nodes, next: 0 }]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) {
      bytes += LEAF
      continue
    }
    bytes += ELEMENT + ATTRIBUTE * node.attrs.length
    for (const parent of node.content ? [node, node.content] : [node])
      if (parent.childNodes.length > 0) open.push({ nodes: parent.childNodes, next: 0 })
  }
  return bytes
}
