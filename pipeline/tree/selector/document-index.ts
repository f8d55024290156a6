/** Where ids, classes and names occur in a document, for documents that are asked often between two changes. */
import type { ElementNode, TreeDocument } from '../../tree/nodes.ts'
import type { ComplexSelector } from './syntax.ts'

export function allowIndex(_document: TreeDocument): void {}
export function touch(_document: TreeDocument): void {}
export function candidates(_list: readonly ComplexSelector[], _document: TreeDocument): ElementNode[] | undefined {
  return undefined
}
