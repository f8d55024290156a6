/**
 * Edits of single elements that keep every byte outside the change (HTTP-24). An edit is proposed first: the document
 * stays as it is until the proposal settles, so that other requests read the old tree while the new one is committed.
 *
 * The new source is made by splicing, and proved to parse to the expected tree: locally where the document is clean,
 * else by parsing the whole. Where a splice does not prove, more is written: the serialized fragment, end tags that the
 * author left out, the smallest ancestor that parses, the whole document. Some trees have no HTML (`p` in `p`): then the
 * parsed text is the document.
 */

import { equalTrees } from '../../tree/compare.ts'
import { parseDocument } from '../../tree/document.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../../tree/nodes.ts'
import { counterparts } from './counterpart.ts'
import { refusing } from './error.ts'
import { checkAtRest, type ProposedEdit, replaced, unchanged } from './proposal.ts'
import { type Edit, planOf } from './resolve.ts'
import { tagsInPlace } from './shape.ts'
import { bodyOf, tailOf, withoutTail } from './tail.ts'
import { markupOf, write } from './write.ts'

export { EditError, type EditReason } from './error.ts'
export type { Change } from './plan.ts'
export type { ProposedEdit, View, Way } from './proposal.ts'
export type { Edit, Placement } from './resolve.ts'

/**
 * Works out an edit. The document is not changed.
 *
 * @param wanted what to do; its nodes belong to the document's tree as it is now
 * @throws EditError when the edit cannot be made; Error when a node is not of this tree
 */
export function edit(document: TreeDocument, wanted: Edit): ProposedEdit {
  checkAtRest(document)
  const named = namedElements(wanted)
  for (const element of named) {
    if (!belongs(document, element)) throw new Error('The element does not belong to the document.')
  }
  if (named.every(element => tagsInPlace(document, element))) return propose(document, wanted, named)
  return proposeAnew(document, wanted, named)
}

function namedElements(wanted: Edit): ElementNode[] {
  switch (wanted.op) {
    case 'insert':
      return [wanted.anchor]
    case 'move':
      return [wanted.source, wanted.anchor]
    default:
      return [wanted.target]
  }
}

/** Contents of templates do not know their document. */
function belongs(document: TreeDocument, element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node)) node = node.parentNode
  return node === document.root || node?.nodeName === '#document-fragment'
}

function propose(document: TreeDocument, wanted: Edit, named: ElementNode[]): ProposedEdit {
  const tail = tailOf(document)
  return withoutTail(bodyOf(document)?.childNodes ?? [], tail, () => {
    const plan = planOf(document, tail, wanted)
    if (plan) return refusing(() => write(document, tail, plan))
    const nodes = named.slice(0, 1)
    const parents = nodes.flatMap(element => element.parentNode ?? [])
    return unchanged(document, { nodes, parents, inserted: markupOf(document, parents, nodes) })
  })
}

/** The offsets of the tree do not fit its source: reads the source again and edits that. */
function proposeAnew(document: TreeDocument, wanted: Edit, named: ElementNode[]): ProposedEdit {
  const fresh = parseDocument(document.kind, document.source)
  if (!equalTrees(document.root, fresh.root)) throw new Error('The tree of the document is not that of its source.')
  const found = counterparts(document.root.childNodes, fresh.root.childNodes, named)
  const same = (element: ElementNode): ElementNode => {
    const other = found.get(element)
    if (!other || !isElement(other)) throw new Error('The element does not belong to the document.')
    return other
  }
  const proposed = propose(fresh, redirected(wanted, same), named.map(same))
  const { nodes, parents } = proposed.propose(view => view)
  const { changes, way, inserted } = proposed
  return replaced(document, proposed.settle(), { changes, way, inserted, nodes, parents })
}

function redirected(wanted: Edit, same: (element: ElementNode) => ElementNode): Edit {
  switch (wanted.op) {
    case 'insert':
      return { ...wanted, anchor: same(wanted.anchor) }
    case 'move':
      return { ...wanted, source: same(wanted.source), anchor: same(wanted.anchor) }
    default:
      return { ...wanted, target: same(wanted.target) }
  }
}
