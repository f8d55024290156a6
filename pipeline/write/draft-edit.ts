/** Edits of elements on their way into a commit: made, judged and, where the data model adds to them, completed. */

import { hash } from 'node:crypto'
import { type AccessTypes, extractAccess, type RawAccess } from '../access/extract.ts'
import { Fault } from '../fault.ts'
import { documentPart, fragmentPart, fragmentTag } from '../http/tags.ts'
import { needsCopy } from '../model/complete.ts'
import { isItem } from '../model/items.ts'
import { type Judgement, judge } from '../model/judge.ts'
import { heldBy, holdingsOf, type Loss, lossesBetween, type Pair } from '../model/losses.ts'
import { touchedBy, type WrittenPlace } from '../model/place.ts'
import type { Registry } from '../model/registry.ts'
import { type Derivation, type Derived, deriveTree, deriving } from '../site/derive.ts'
import type { Held } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import { encode } from '../tree/document.ts'
import {
  type Edit,
  EditError,
  editing,
  type Placement,
  type ProposedEdit,
  type View,
  type Way,
} from '../tree/edit/edit.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { outerMarkup } from '../tree/serialize.ts'
import { ifShort, inTurns } from '../tree/steps.ts'
import type { ModelState } from './check.ts'
import { completedEdit, copyPlace, editedCopy, proposedCopy } from './edit-copy.ts'

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
  /** Markup of the new nodes as stored (HTTP-81). */
  inserted: string
  way: Way
  bytes: Uint8Array
  digest: string
  derived: Derived
  settle: () => TreeDocument
  /** Rules and groups of the new document, by other types (RULE-12, GRP-4). */
  extract: (types: AccessTypes, ns: string) => RawAccess | undefined
  /** Fragment tag of the first new element (HTTP-81). */
  tag: string | undefined
  facts: string
  judgement: Judgement
  /** Values that others may refer to and that the edit takes away. */
  losses: Loss[]
  /** Makes a copy of the new document, in which the first nodes are those of the edit. */
  open(): Promise<WrittenPlace>
}

/**
 * @throws Fault when the edit cannot be made, or must not
 */
export async function draftEdit(site: Site, { registry, host }: ModelState, request: EditRequest): Promise<Draft> {
  const { path, held, tree, wanted } = request
  const lossesIn = lossFinder(registry, tree, wanted)
  const drafted = (proposal: ProposedEdit, look: (view: View, derived: Derived) => Judgement | undefined) => {
    const { inserted, way, settle } = proposal
    const extract = (types: AccessTypes, ns: string) =>
      proposal.propose(view => extractAccess(view.document, ns, types))
    const { bytes, digest } = encoded(site, proposal.source, held)
    return proposal.propose(view => {
      const around = touchedBy({ document: view.document, part: { nodes: [], parents: view.parents } }).around
      const derived = deriveTree(view.document, site.derivation, new Set(around))
      const judgement = look(view, derived)
      const tag = elementTag(view.nodes, view.document, digest)
      const facts = request.facts(view)
      return { inserted, way, settle, extract, bytes, digest, derived, tag, facts, judgement, losses: lossesIn(view) }
    })
  }
  const asked = await propose(site.derivation, tree, wanted)
  const { judgement, ...plain } = drafted(asked, (view, derived) => {
    request.check(asked, view, derived)
    const place = { document: view.document, part: view }
    return needsCopy(registry, place) ? undefined : judge(registry, path, place)
  })
  if (judgement) return { ...plain, judgement, open: async () => (await editedCopy(tree, wanted)).place }
  const completed = await completedEdit({ registry, host, path }, tree, wanted)
  const { judgement: judged, proposal } = completed
  return { ...drafted(proposal, () => judged), judgement: judged, open: async () => copyPlace(completed.place) }
}

/** The draft of an edit whose document a cascade has changed further. */
export function redraft(site: Site, held: Held, draft: Draft, { document, part }: WrittenPlace): Draft {
  const { bytes, digest } = encoded(site, document.source, held)
  const brought = part?.brought ?? part?.nodes ?? []
  const inserted = brought.map(node => outerMarkup(node, document.kind)).join('')
  const tag = draft.tag && elementTag(brought, document, digest)
  const derived = deriveTree(document, site.derivation)
  const extract = (types: AccessTypes, ns: string) => extractAccess(document, ns, types)
  return { ...draft, inserted, bytes, digest, derived, tag, extract, settle: () => document }
}

function encoded(site: Site, source: string, held: Held): { bytes: Uint8Array; digest: string } {
  const bytes = encode(source, held.bytes !== undefined && hasByteOrderMark(held.bytes))
  const { maxBody, maxDocument } = site.settings
  if (bytes.length > Math.min(maxBody, maxDocument))
    throw new Fault(413, 'PayloadTooLarge', 'The document would become larger than allowed here.')
  return { bytes, digest: hash('sha256', bytes) }
}

/**
 * Compares what others may refer to before and after an edit. Items around the place that is written, and the item at it,
 * are the same before and after (MOD-55).
 */
function lossFinder(registry: Registry, tree: TreeDocument, wanted: Edit): (view: View) => Loss[] {
  if (registry.guarded.size === 0) return () => []
  const before = holdingsOf(registry, tree)
  const around = (document: TreeDocument, parents: readonly ParentNode[]) =>
    touchedBy({ document, part: { nodes: [], parents } }).around.filter(isItem)
  const parents = placesOf(wanted).flatMap(place => place ?? [])
  const itemsBefore = around(tree, parents).map(element => heldBy(registry, element))
  const target = wanted.op === 'replace' ? heldBy(registry, wanted.target) : []
  return view => {
    const after = around(view.document, view.parents)
    const same = after.length === itemsBefore.length
    const pairs: Pair[] = same ? itemsBefore.map((held, i) => [held, heldBy(registry, after[i] as ElementNode)]) : []
    const first = view.nodes.find(isElement)
    if (wanted.op === 'replace' && first) pairs.unshift([target, heldBy(registry, first)])
    return lossesBetween(before, holdingsOf(registry, view.document), pairs)
  }
}

/** Whose children an edit changes. */
function placesOf(wanted: Edit): (ParentNode | null)[] {
  const anchored = (anchor: ElementNode, placement: Placement) =>
    placement === 'append' || placement === 'prepend' ? (anchor.content ?? anchor) : anchor.parentNode
  if (wanted.op === 'insert') return [anchored(wanted.anchor, wanted.placement)]
  if (wanted.op === 'move') return [wanted.source.parentNode, anchored(wanted.anchor, wanted.placement)]
  return [wanted.target.parentNode]
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** Fragment tag of the first new element (HTTP-81). */
function elementTag(nodes: readonly ChildNode[], document: TreeDocument, digest: string): string | undefined {
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

async function propose(derivation: Derivation, tree: TreeDocument, wanted: Edit): Promise<ProposedEdit> {
  try {
    const soon = ifShort(editing(tree, wanted))
    if (soon) return soon.value
    const proposal = await proposedCopy(tree, wanted)
    // What is found out here need not be found out while the proposal is looked at.
    await inTurns(deriving(proposal.settle(), derivation, true), proposal.source.length)
    return proposal
  } catch (error) {
    if (error instanceof EditError)
      throw (
        EDIT_FAULTS[error.reason]?.(error.message) ??
        new Fault(422, 'InvalidFragment', `The document would break a limit: ${error.message}`)
      )
    throw error
  }
}
