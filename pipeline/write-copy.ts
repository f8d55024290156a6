/** Edits that the data model changes further before they are stored: made on a copy of the document (MOD-30, MOD-70). */

import type { Judges } from './model/complete.ts'
import { type Judgement, judgeCopy } from './model/judge.ts'
import type { WrittenPlace } from './model/place.ts'
import { cloneTree } from './tree/clone.ts'
import { counterparts } from './tree/edit/counterpart.ts'
import { type Edit, edit, type ProposedEdit } from './tree/edit/edit.ts'
import { markupIn } from './tree/edit/markup.ts'
import { type ElementNode, isElement, type TreeDocument } from './tree/nodes.ts'
import { outerMarkup } from './tree/serialize.ts'

/**
 * Makes an edit on a copy, completes it and judges it.
 *
 * @param tree the stored document, which stays as it is
 * @param wanted an edit that can be made
 * @throws Fault by the first step of MOD-112 that fails
 */
export async function completedEdit(
  judges: Judges,
  tree: TreeDocument,
  wanted: Edit,
): Promise<{ proposal: ProposedEdit; judgement: Judgement }> {
  const copy = cloneTree(tree)
  const edited = edit(copy, onCopy(wanted, tree, copy))
  const { nodes, parents } = edited.propose(view => view)
  const document = edited.settle()
  const { place, judgement } = await judgeCopy(judges, { document, part: { nodes, parents } })
  return { proposal: proposalOf(place, edited), judgement }
}

function onCopy(wanted: Edit, tree: TreeDocument, copy: TreeDocument): Edit {
  const named =
    wanted.op === 'insert' ? [wanted.anchor] : wanted.op === 'move' ? [wanted.source, wanted.anchor] : [wanted.target]
  const found = counterparts(tree.root.childNodes, copy.root.childNodes, named)
  const same = (element: ElementNode): ElementNode => {
    const other = found.get(element)
    if (!other || !isElement(other)) throw new Error('The element does not belong to the document.')
    return other
  }
  if (wanted.op === 'insert') return { ...wanted, anchor: same(wanted.anchor) }
  if (wanted.op === 'move') return { ...wanted, source: same(wanted.source), anchor: same(wanted.anchor) }
  return { ...wanted, target: same(wanted.target) }
}

/** A completed document as a proposal that puts it in place of the stored one. */
function proposalOf({ document, part }: WrittenPlace, edited: ProposedEdit): ProposedEdit {
  const nodes = [...(part?.nodes ?? [])]
  const parents = [...(part?.parents ?? [])]
  const [first] = nodes
  const parent = first?.parentNode
  const markup =
    parent && isElement(parent)
      ? markupIn(document.kind, parent, nodes)
      : nodes.map(node => outerMarkup(node, document.kind)).join('')
  return {
    source: document.source,
    changes: edited.changes,
    way: edited.way,
    inserted: edited.inserted === '' ? '' : markup.trim(),
    propose: look => look({ document, nodes, parents }),
    settle: () => document,
  }
}
