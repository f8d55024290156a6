/** Edits that the data model changes further before they are stored: made on a copy of the document (MOD-30, MOD-70). */

import type { Judges } from './model/complete.ts'
import { type Judgement, judgeCopy } from './model/judge.ts'
import type { WrittenPlace } from './model/place.ts'
import { cloneTree } from './tree/clone.ts'
import { counterparts } from './tree/edit/counterpart.ts'
import { type Edit, edit, type ProposedEdit } from './tree/edit/edit.ts'
import { markupIn } from './tree/edit/markup.ts'
import {
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  isElement,
  parentElement,
  type TreeDocument,
} from './tree/nodes.ts'
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
  const before = markups(document.kind, nodes)
  const { place, judgement } = await judgeCopy(judges, { document, part: { nodes, parents } })
  return { proposal: proposalOf(place, edited, before), judgement }
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
function proposalOf({ document, part }: WrittenPlace, edited: ProposedEdit, before: readonly string[]): ProposedEdit {
  const nodes = [...(part?.nodes ?? [])]
  const parents = [...(part?.parents ?? [])]
  return {
    source: document.source,
    changes: edited.changes,
    way: edited.way,
    inserted: exchanged(edited.inserted, before, markups(document.kind, nodes)),
    propose: look => look({ document, nodes, parents }),
    settle: () => document,
  }
}

function markups(kind: DocumentKind, nodes: readonly ChildNode[]): string[] {
  return nodes.filter(isElement).map(node => {
    const parent = parentElement(node)
    return parent ? markupIn(kind, parent, [node]) : outerMarkup(node, kind)
  })
}

/** New markup with its elements as they were completed; text between them may have joined what stood there before. */
function exchanged(inserted: string, before: readonly string[], after: readonly string[]): string {
  if (before.length !== after.length) return after.join('')
  let text = ''
  let at = 0
  for (const [i, old] of before.entries()) {
    const found = inserted.indexOf(old, at)
    if (found < 0) return after.join('')
    text += inserted.slice(at, found) + (after[i] ?? '')
    at = found + old.length
  }
  return text + inserted.slice(at)
}
