/** Edits of elements on their way into a commit: made, judged and, where the data model adds to them, completed. */

import { hash } from 'node:crypto'
import { type Derived, deriveFromTree, unusable } from './derive.ts'
import { Fault } from './fault.ts'
import type { Held } from './held.ts'
import { documentPart, fragmentPart, fragmentTag } from './http/tags.ts'
import { needsCopy } from './model/complete.ts'
import { type Judgement, judge } from './model/judge.ts'
import type { Vocabulary } from './model/vocabulary.ts'
import type { Site } from './site.ts'
import { encode, TreeError } from './tree/document.ts'
import { type Edit, EditError, edit, type ProposedEdit, type View } from './tree/edit/edit.ts'
import { type ChildNode, isElement, type TreeDocument } from './tree/nodes.ts'
import { outerMarkup } from './tree/serialize.ts'
import type { ModelState } from './write-check.ts'
import { completedEdit } from './write-copy.ts'

/** What an edit is made from. */
export interface EditRequest {
  /** Canonical path of the document. */
  path: string
  held: Held
  /** The tree of `held`. */
  tree: TreeDocument
  wanted: Edit
  /** Looks at the edit as it was asked for, before the data model does. @throws Fault */
  check(asked: ProposedEdit, view: View, derived: Derived): void
  /** What its event says to those who decide about its delivery (EVT-67). */
  facts(view: View): string
}

/** An edit as it would be committed, with all that is known of the document it would leave. */
export interface Draft {
  proposal: ProposedEdit
  bytes: Uint8Array
  digest: string
  derived: Derived
  /** Fragment tag of the first new element (HTTP-81). */
  tag: string | undefined
  facts: string
  judged: Judgement
}

/**
 * @throws Fault when the edit cannot be made, or must not
 */
export async function draftEdit(site: Site, { registry, host }: ModelState, request: EditRequest): Promise<Draft> {
  const { path, held, tree, wanted } = request
  const bom = held.bytes !== undefined && hasByteOrderMark(held.bytes)
  const { maxBody, maxDocument } = site.settings
  const drafted = (proposal: ProposedEdit, look: (view: View, derived: Derived) => Judgement | undefined) => {
    const bytes = encode(proposal.source, bom)
    if (bytes.length > Math.min(maxBody, maxDocument))
      throw new Fault(413, 'PayloadTooLarge', 'The document would become larger than allowed here.')
    const digest = hash('sha256', bytes)
    return proposal.propose(view => {
      const derived = derive(view.document, site.settings)
      const judged = look(view, derived)
      const tag = elementTag(view.nodes, view.document, digest)
      return { proposal, bytes, digest, derived, tag, judged, facts: request.facts(view) }
    })
  }
  const asked = propose(tree, wanted)
  const { judged, ...plain } = drafted(asked, (view, derived) => {
    request.check(asked, view, derived)
    const place = { document: view.document, part: view }
    return needsCopy(registry, place) ? undefined : judge(registry, path, place)
  })
  if (judged) return { ...plain, judged }
  const { proposal, judgement } = await completedEdit({ registry, host, path }, tree, wanted)
  return { ...drafted(proposal, () => judgement), judged: judgement }
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function derive(document: TreeDocument, vocabulary: Vocabulary): Derived {
  try {
    return deriveFromTree(document, vocabulary, true)
  } catch (error) {
    throw error instanceof TreeError ? unusable(error) : error
  }
}

/** Fragment tag of the first new element (HTTP-81). */
function elementTag(nodes: ChildNode[], document: TreeDocument, digest: string): string | undefined {
  const element = nodes.find(isElement)
  return element && fragmentTag(fragmentPart(outerMarkup(element, document.kind)), documentPart(digest))
}

const EDIT_FAULTS: Partial<Record<EditError['reason'], (message: string) => Fault>> = {
  empty: () => new Fault(400, 'EmptyBody', 'The body holds no markup. Use DELETE to remove an element.'),
  'no-element': () => new Fault(422, 'InvalidFragment', 'The body holds no element to put in place of the old one.'),
  'void-anchor': () => new Fault(422, 'InvalidPlacement', 'This element cannot have children; use before or after.'),
  malformed: message => new Fault(422, 'InvalidFragment', `The fragment is not well formed: ${message}`),
  parentless: () => new Fault(400, 'InvalidPlacement', 'The root element has no siblings; use append or prepend.'),
  root: () => new Fault(422, 'IllegalMove', 'The root element can be neither removed nor moved.'),
  'into-itself': () => new Fault(422, 'IllegalMove', 'An element cannot be moved into itself.'),
}

function propose(tree: TreeDocument, change: Edit): ProposedEdit {
  try {
    return edit(tree, change)
  } catch (error) {
    if (error instanceof EditError)
      throw (
        EDIT_FAULTS[error.reason]?.(error.message) ??
        new Fault(422, 'InvalidFragment', `The document would break a limit: ${error.message}`)
      )
    throw error
  }
}
