/** An edit that is ready but not done: it can be shown, and it can become the document. */

import { followIds } from '../ids.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { shiftEnd, shiftingNodes } from '../offsets.ts'
import { isPinned } from '../pins.ts'
import { findingPrefixed } from '../prefixed-parser.ts'
import type { Shown } from '../readings.ts'
import { stateOf } from '../revisions.ts'
import { setText, textOf } from '../source-text.ts'
import { done, type Steps } from '../steps.ts'
import { noteGain, weighing } from '../weight.ts'
import { ChangedDocument, PinnedDocument } from './error.ts'
import { type ShiftedRange, shiftingBehind } from './offsets.ts'
import { applyPatch, preparingPatch, withPatch } from './patch.ts'
import type { PlannedSplice } from './plan.ts'
import type { Piece } from './prove.ts'
import { findingStray } from './stray.ts'

/** How the text of an edit came about, from least to most that was written. */
export type Way = 'splice' | 'normalised' | 'closed' | 'ancestor' | 'document' | 'reparsed'

/** The proposed tree; to be looked at, not to be kept. Offsets in it may be those of the old source. */
export interface View {
  document: TreeDocument
  /** The new or moved nodes in order; text that joined its neighbours is there as the joined text. */
  nodes: ChildNode[]
  /** Whose children changed; contents of templates by themselves. */
  parents: ParentNode[]
  /** In the order of the source, all that becomes different; missing where that is not known. */
  exchanges?: readonly Exchange[]
  /**
   * Nodes that stand otherwise than the edit alone would leave them, the new ones among them; missing where the edit does
   * what it was asked for.
   */
  reread?: readonly ChildNode[] | undefined
}

/** A stretch of one element's children that an edit exchanges, and nothing else. */
export interface Exchange {
  parent: ElementNode
  /** The part of the old source in which the old nodes stand. */
  start: number
  end: number
  gone: readonly ChildNode[]
  come: readonly ChildNode[]
}

export interface ProposedEdit {
  /** The new source text. */
  source: string
  /** What was replaced in the old source, in order: one range, or two for a move. All other code units stay. */
  changes: PlannedSplice[]
  way: Way
  /** Whether all children of the parents that the edit is not about are as they were. */
  keepsOthers: boolean
  /** Markup of the new nodes as stored, white space around them included; empty when an element was removed. */
  inserted: string
  /** The new nodes as composition reads them, where the edit was made in that reading. */
  shown?: Shown | undefined
  /**
   * Shows the proposed tree to a function, which must be done with it when it returns.
   *
   * @throws what the function throws; ChangedDocument when the document has changed since the edit was proposed
   */
  propose<T>(look: (view: View) => T): T
  /**
   * Makes the edit, in steps between which nobody else may have the document.
   *
   * @returns the document, patched in place, or another one that was parsed
   * @throws ChangedDocument when the document has changed since the edit was proposed; PinnedDocument when it would be
   *   patched and somebody is reading it
   */
  accepting(): Steps<TreeDocument>
}

/** Finds out, in steps, whether edits of the document can be proved locally. */
export function* provingLocal(document: TreeDocument): Steps<boolean> {
  if (!document.clean || document.kind === 'xml') return document.clean
  const state = stateOf(document)
  state.stray ??= yield* findingStray(document)
  return !state.stray
}

/** @throws Error while a proposed tree is being shown */
export function checkAtRest(document: TreeDocument): void {
  if (stateOf(document).showing) throw new Error('A proposed tree cannot be edited.')
}

type Parts = Pick<ProposedEdit, 'changes' | 'way' | 'inserted'> &
  Partial<Pick<ProposedEdit, 'keepsOthers'>> &
  Pick<View, 'nodes' | 'parents' | 'exchanges' | 'reread'>

/** Guards a proposal against changes of its document that came in between. */
function guarded(
  document: TreeDocument,
  source: string,
  parts: Parts,
  show: <T>(run: () => T) => T,
  shown: TreeDocument,
  accepting: () => Steps<TreeDocument>,
): ProposedEdit {
  const { changes, way, inserted, nodes, parents, exchanges, reread, keepsOthers = true } = parts
  const state = stateOf(document)
  const { revision } = state
  const check = (): void => {
    if (state.revision !== revision) throw new ChangedDocument('The document has changed since the edit was proposed.')
    checkAtRest(document)
  }
  return {
    source,
    changes,
    way,
    keepsOthers,
    inserted,
    propose: look => {
      check()
      state.showing = true
      try {
        return show(() => look({ document: shown, nodes, parents, exchanges, reread }))
      } finally {
        state.showing = false
      }
    },
    accepting: function* () {
      check()
      if (shown === document && changes.length > 0 && isPinned(document)) throw new PinnedDocument()
      if (changes.length === 0) return yield* accepting()
      const before = state.revision++
      const accepted = yield* accepting()
      if (accepted === document) followIds(document, { before, after: state.revision }, exchanges)
      return accepted
    },
  }
}

/** A proposal that keeps the document as it is: nothing changes. */
export function unchanged(document: TreeDocument, parts: Omit<Parts, 'changes' | 'way'>): ProposedEdit {
  return guarded(
    document,
    document.source,
    { ...parts, changes: [], way: 'splice', exchanges: [] },
    run => run(),
    document,
    () => done(document),
  )
}

/** A proposal that puts another document in place of this one. */
export function replaced(document: TreeDocument, by: TreeDocument, parts: Parts): ProposedEdit {
  return guarded(
    document,
    by.source,
    parts,
    run => run(),
    by,
    () => done(by),
  )
}

/** A proposal that patches the document in place; in steps. */
export function* patching(document: TreeDocument, pieces: Piece[], parts: Parts): Steps<ProposedEdit> {
  const text = textOf(document).changed(parts.changes)
  const { source } = text
  const shifted = yield* placing(pieces)
  const patch = yield* preparingPatch(
    pieces.map(({ region: { parent, from, to }, nodes }) => ({ parent, from, to, nodes })),
  )
  const come = yield* weighingAll(pieces.map(({ nodes }) => nodes))
  const show = <T>(run: () => T): T => {
    const before = textOf(document)
    setText(document, text)
    try {
      return withPatch(patch, run)
    } finally {
      setText(document, before)
    }
  }
  const accepting = function* (): Steps<TreeDocument> {
    const { root } = document
    let brings = false
    for (const { text: brought } of parts.changes) brings ||= yield* findingPrefixed(brought)
    noteGain(root, come)
    if (brings) stateOf(document).asWritten = undefined
    noteGain(
      root,
      -(yield* weighingAll(pieces.map(({ region: { parent, from, to } }) => parent.childNodes.slice(from, to)))),
    )
    applyPatch(patch)
    const [first, second] = shifted
    if (first) yield* shiftingBehind(first, second)
    for (const { element, place: end } of pieces.flatMap(({ ends }) => ends)) {
      const place = element.sourceCodeLocation
      if (!place) continue
      place.endOffset = end.endOffset
      place.endTag = end.endTag
    }
    setText(document, text)
    return document
  }
  return guarded(document, source, { ...parts, exchanges: exchangesOf(pieces) }, show, document, accepting)
}

function* weighingAll(lists: readonly (readonly ChildNode[])[]): Steps<number> {
  let bytes = 0
  for (const nodes of lists) bytes += yield* weighing(nodes)
  return bytes
}

/** @returns undefined where contents of a template change */
function exchangesOf(pieces: readonly Piece[]): Exchange[] | undefined {
  const exchanges = pieces.flatMap(({ region: { parent, from, to, start, end }, nodes }) =>
    isElement(parent) ? [{ parent, start, end, gone: parent.childNodes.slice(from, to), come: nodes }] : [],
  )
  return exchanges.length === pieces.length ? exchanges : undefined
}

/** Gives the new nodes of all pieces their offsets in the new source. */
function* placing(pieces: Piece[]): Steps<ShiftedRange[]> {
  const shifted: ShiftedRange[] = []
  let moved = 0
  let last: { parent: ParentNode; added: number } | undefined
  for (const { region, nodes, ends, changes, skip } of pieces) {
    const { parent, host, start } = region
    yield* shiftingNodes(nodes, start + moved - skip)
    for (const { place } of ends) shiftEnd(place, start + moved - skip)
    const distance = changes.reduce((sum, { start, end, text }) => sum + text.length - (end - start), 0)
    moved += distance
    const from = region.from + (last?.parent === parent ? last.added : 0)
    const end = changes.reduce((last, change) => Math.max(last, change.end), Number.NEGATIVE_INFINITY)
    shifted.push({ parent, host, from, to: from + nodes.length, end, distance })
    last = { parent, added: from + nodes.length - region.to }
  }
  return shifted
}
