/**
 * Elements by their ids, for documents whose elements are written one by one: made by the first search, and kept in step
 * with edits in place.
 */

import { attribute, type ChildNode, type ElementNode, isElement, type TreeDocument } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

interface Ids {
  /** Of the tree when they were right. */
  revision: number
  /** Without those that several elements have. */
  elements: Map<string, ElementNode>
  several: Set<string>
}

const known = new WeakMap<TreeDocument, Ids>()

/**
 * The only element with an id; contents of templates do not count.
 *
 * @param revision of the tree, which is changed by edits alone
 * @returns in steps; undefined where there is none, or more than one
 */
export function* findingById(document: TreeDocument, revision: number, id: string): Steps<ElementNode | undefined> {
  let ids = known.get(document)
  if (ids?.revision !== revision) {
    ids = { revision, elements: new Map(), several: new Set() }
    yield* adding(ids, document.root.childNodes)
    known.set(document, ids)
  }
  return ids.elements.get(id)
}

/** To be told of an edit in place. @param exchanges all that has become different; missing where that is not known */
export function followIds(
  document: TreeDocument,
  { before, after }: { before: number; after: number },
  exchanges: readonly { gone: readonly ChildNode[]; come: readonly ChildNode[] }[] | undefined,
): void {
  const ids = known.get(document)
  if (!ids) return
  const isKept = ids.revision === before && exchanges?.every(({ gone }) => removed(ids, gone))
  if (!isKept) {
    known.delete(document)
    return
  }
  for (const { come } of exchanges ?? []) for (const element of elementsIn(come)) add(ids, element)
  ids.revision = after
}

function* adding(ids: Ids, nodes: readonly ChildNode[]): Steps<void> {
  let seen = 0
  for (const element of elementsIn(nodes)) {
    if (++seen % NODES_PER_STEP === 0) yield
    add(ids, element)
  }
}

function add({ elements, several }: Ids, element: ElementNode): void {
  const id = idOf(element)
  if (id === undefined) return
  if (elements.has(id)) {
    elements.delete(id)
    several.add(id)
  } else if (!several.has(id)) elements.set(id, element)
}

/** @returns false where it is not known who is left */
function removed({ elements, several }: Ids, nodes: readonly ChildNode[]): boolean {
  for (const element of elementsIn(nodes)) {
    const id = idOf(element)
    if (id === undefined) continue
    if (several.has(id)) return false
    elements.delete(id)
  }
  return true
}

function idOf(element: ElementNode): string | undefined {
  return element.attrs.length === 0 ? undefined : attribute(element, 'id')
}

/** All elements, in the order of the source, without those in templates. */
export function* elementsIn(nodes: readonly ChildNode[]): Generator<ElementNode, void, void> {
  const open = [nodes.values()]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { value: node } = level.next()
    if (!node) open.pop()
    else if (isElement(node)) {
      yield node
      if (node.childNodes.length > 0) open.push(node.childNodes.values())
    }
  }
}
