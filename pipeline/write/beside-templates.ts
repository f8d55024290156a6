/**
 * Edits beside templates whose Liquid holds markup (`{{ "<table>" }}` in SVG): elements are found, and edits proved, in a tree in
 * which it is markup like any other, so that what stands behind may be something else there than in pages (LIQ-6, COMP-147).
 */

import { isDeepStrictEqual } from 'node:util'
import { introducesDirectives } from '../compose/introduced.ts'
import { parsingWithout, type Template } from '../compose/page.ts'
import type { Registry } from '../model/registry.ts'
import { type Edit, EditError, editing, type PlannedSplice, type ProposedEdit } from '../tree/edit/edit.ts'
import { editOf } from '../tree/edit/reading.ts'
import { TreeError } from '../tree/limits.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'

/** An edit, and the document without it. */
interface BesideTemplates {
  wanted: Edit
  /** Text of the document. */
  before: string
  templates: readonly Template[]
  proposal: Pick<ProposedEdit, 'changes' | 'way'>
}

/** What is removed from a source alone leaves the rest as it is. */
function isIn({ start, end }: Template, change: PlannedSplice): boolean {
  return change.start >= start && change.end <= end
}

/**
 * Whether an edit is proved by the same text where the sources of templates are blank, as pages are put together, and brings no
 * directives there; in steps.
 *
 * @param tree that the edit names elements of
 */
export function* isSameWithoutSources(
  model: Registry,
  tree: TreeDocument,
  { wanted, before, templates, proposal }: BesideTemplates,
): Steps<boolean> {
  if (proposal.changes.every(change => change.text === '' && templates.some(host => isIn(host, change)))) return true
  if (proposal.way === 'reparsed') return false
  try {
    const bare: TreeDocument = { ...(yield* parsingWithout(before, tree.kind, templates)), asWritten: true }
    const there = editOf(tree, { ...wanted, asWritten: false }, bare)
    if (!there) return false
    const made = yield* editing(bare, there)
    if (made.way === 'reparsed' || !isDeepStrictEqual(made.changes, proposal.changes)) return false
    const { document, nodes, parents } = made.propose(view => view)
    yield* made.accepting()
    return !(yield* introducesDirectives(model, document, nodes, parents))
  } catch (error) {
    if (error instanceof EditError || error instanceof TreeError) return false
    throw error
  }
}
