/** Edits that the data model changes further before they are stored: made on a copy of the document (MOD-30, MOD-70). */

import type { Judges } from '../model/complete.ts'
import { copyingWithEntries } from '../model/entries.ts'
import { type Judgement, judgeCopy } from '../model/judge.ts'
import type { WrittenPlace } from '../model/place.ts'
import { cloneTree } from '../tree/clone.ts'
import { counterparts } from '../tree/edit/counterpart.ts'
import { ChangedDocument, type Edit, editing, type ProposedEdit, type View } from '../tree/edit/edit.ts'
import { markupIn } from '../tree/edit/markup.ts'
import { redirected } from '../tree/edit/resolve.ts'
import {
  type AnyNode,
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  isElement,
  parentElement,
  type TreeDocument,
} from '../tree/nodes.ts'
import { copyReading, findingShown, type Shown } from '../tree/readings.ts'
import { findingSame } from '../tree/same-nodes.ts'
import { outerMarkup } from '../tree/serialize.ts'
import { done, inTurns, type Steps } from '../tree/steps.ts'

/** An edit made on a copy of its document. */
interface EditedCopy {
  place: WrittenPlace & { part: WrittenPart }
  edited: ProposedEdit
}

type WrittenPart = NonNullable<WrittenPlace['part']>

/** What an edit is judged by: where it has changed more than it was asked to, all that it has changed. */
function writtenPart({ nodes, parents, reread }: Shown & Pick<View, 'reread'>): WrittenPart {
  return reread ? { nodes: reread, parents, brought: nodes } : { nodes, parents }
}

/** The place of an edit that is shown. */
export function writtenPlace(view: Shown & Pick<View, 'reread'>): WrittenPlace & { part: WrittenPart } {
  return { document: view.document, part: writtenPart(view) }
}

/**
 * Makes an edit on a copy; in turns with other work where much has to be read for it.
 *
 * @param tree the stored document, which stays as it is
 * @throws EditError when the edit cannot be made
 */
export async function editedCopy(tree: TreeDocument, wanted: Edit): Promise<EditedCopy> {
  const { length } = tree.source
  const copies = new Map<ChildNode, ChildNode>()
  const named = new Set<ChildNode>(namedBy(wanted))
  const copying = copyingWithEntries(tree, (node, copy) => {
    if (named.has(node)) copies.set(node, copy)
  })
  const copy = await inTurns(copying, length)
  copyReading(tree, copy)
  const given = 'text' in wanted ? wanted.text.length : 0
  const edited = await inTurns(editing(copy, onCopy(wanted, copies)), length + given)
  const part = edited.propose(writtenPart)
  const document = await inTurns(edited.accepting(), length)
  return { place: { document, part }, edited }
}

/** Makes an edit on a copy, which the proposal puts in place of the document: for edits that take long. */
export async function proposedCopy(tree: TreeDocument, wanted: Edit): Promise<ProposedEdit> {
  const { place, edited } = await editedCopy(tree, wanted)
  return proposalOf(place, edited, edited)
}

/** A copy of a document with the place that was written. */
export function copyPlace({ document, part }: WrittenPlace): WrittenPlace {
  const copy = cloneTree(document)
  if (!part) return { document: copy }
  const { nodes, parents, brought } = part
  const wanted = [...nodes, ...parents, ...(brought ?? [])]
  const found = counterparts(document.root.childNodes, copy.root.childNodes, wanted)
  const same = <Node extends AnyNode>(node: Node): Node[] => (found.has(node) ? [found.get(node) as Node] : [])
  const copied = { nodes: nodes.flatMap(same), parents: parents.flatMap(same) }
  return { document: copy, part: { ...copied, ...(brought && { brought: brought.flatMap(same) }) } }
}

/**
 * Makes an edit on a copy, completes it and judges it.
 *
 * @returns whether something was added beyond what the edit has brought as well
 * @throws Fault by the first step of MOD-112 that fails
 */
export async function completedEdit(
  judges: Judges,
  tree: TreeDocument,
  wanted: Edit,
): Promise<{ proposal: ProposedEdit; place: WrittenPlace; judgement: Judgement; isBeyond: boolean }> {
  const { place: copied, edited } = await editedCopy(tree, wanted)
  const before = markups(copied.document.kind, edited.shown?.nodes ?? broughtBy(copied))
  const around = surroundings(copied)
  const followed = await inTurns(findingShownParents(copied, edited), copied.document.source.length)
  const { place, judgement } = await judgeCopy(judges, { ...copied, followed })
  const { document } = place
  const brought = broughtBy(place)
  const beside = (place.followed ?? []).flatMap(element => element ?? [])
  const finding = findingShown(document, brought, [...(place.part?.parents ?? []), ...beside])
  const shown = edited.shown && (await inTurns(finding, document.source.length))
  const inserted = exchanged(edited.inserted, before, markups(document.kind, shown?.nodes ?? brought))
  const { before: ahead, behind } = surroundings(place)
  const isBeyond = ahead !== around.before || behind !== around.behind
  return { proposal: proposalOf(place, edited, { inserted, shown }), place, judgement, isBeyond }
}

/** Whose children an edit has changed as composition reads it, in the document itself: HTML may have others around the place. */
function* findingShownParents({ document }: WrittenPlace, { shown }: ProposedEdit): Steps<ElementNode[]> {
  if (!shown) return []
  return (yield* findingSame(shown.document, shown.parents.filter(isElement), document)).filter(isElement)
}

/** The text around what a write has brought. */
export function surroundings(place: WrittenPlace): { before: string; behind: string } {
  const { source } = place.document
  let [start, end] = [source.length, 0]
  // However many they are: as arguments of one call they would be too many.
  for (const { sourceCodeLocation: span } of broughtBy(place)) {
    start = Math.min(start, span?.startOffset ?? start)
    end = Math.max(end, span?.endOffset ?? end)
  }
  return start > end ? { before: source, behind: '' } : { before: source.slice(0, start), behind: source.slice(end) }
}

function namedBy(wanted: Edit): ElementNode[] {
  if (wanted.op === 'insert') return [wanted.anchor]
  return wanted.op === 'move' ? [wanted.source, wanted.anchor] : [wanted.target]
}

function onCopy(wanted: Edit, copies: ReadonlyMap<ChildNode, ChildNode>): Edit {
  return redirected(wanted, element => {
    const other = copies.get(element)
    if (!other || !isElement(other)) throw new ChangedDocument()
    return other
  })
}

/** A document that was changed apart from the stored one, as a proposal that puts it in its place. @param told of what it brings */
function proposalOf(
  { document, part }: WrittenPlace,
  edited: ProposedEdit,
  { inserted, shown }: Pick<ProposedEdit, 'inserted' | 'shown'>,
): ProposedEdit {
  const nodes = [...broughtBy({ part })]
  const parents = [...(part?.parents ?? [])]
  const reread = part?.brought && part.nodes
  return {
    source: document.source,
    changes: edited.changes,
    way: edited.way,
    keepsOthers: edited.keepsOthers,
    inserted,
    shown,
    propose: look => look({ document, nodes, parents, reread }),
    accepting: () => done(document),
  }
}

/** The nodes that a write has brought by itself. */
export function broughtBy({ part }: Pick<WrittenPlace, 'part'>): readonly ChildNode[] {
  return part?.brought ?? part?.nodes ?? []
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
