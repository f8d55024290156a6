/** Edits of elements, made and judged by the site's data model and, where it adds to them, completed (MOD-110). */

import { type Derived, deriveInTurns, unusable, writingStoredForm } from '../declarations/derive.ts'
import { derivingEdit } from '../declarations/derive-edit.ts'
import type { ShowTree } from '../declarations/retype.ts'
import { Fault } from '../fault.ts'
import { otherCharset } from '../http/media.ts'
import { fragmentTag, tellingFragment } from '../http/tags.ts'
import { type Judgement, judgeAsItIs, judging, newFailures, withReading } from '../model/judge.ts'
import type { Loss } from '../model/losses.ts'
import { elementsAround, type WrittenPlace } from '../model/place.ts'
import { isReadAsWritten } from '../read/representation.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { isBlank, trimmed } from '../tree/ascii.ts'
import {
  checkEncoding,
  type Edit,
  EditError,
  editing,
  type ProposedEdit,
  type View,
  type Way,
} from '../tree/edit/edit.ts'
import { TreeError } from '../tree/limits.ts'
import { inOnePiece, LONG, puttingInOnePiece } from '../tree/long-text.ts'
import { type ChildNode, isElement, isText, type TreeDocument } from '../tree/nodes.ts'
import { findingShown, readingAsWritten, readingProposed, type Shown } from '../tree/readings.ts'
import { revisionOf } from '../tree/revisions.ts'
import { outerMarkup, writingStretches } from '../tree/serialize.ts'
import { type SourceText, textOf } from '../tree/source-text.ts'
import { SplicedBytes } from '../tree/spliced-bytes.ts'
import { done, ifShort, inOwnTurn, inTurns, type Steps } from '../tree/steps.ts'
import type { ModelState } from './commit.ts'
import { broughtBy, completedEdit, copyPlace, editedCopy, proposedCopy, writtenPlace } from './edit-copy.ts'
import { findingEditLosses, findingStake } from './edit-losses.ts'
import { type EncodedEdit, encodingEdit, encodingText } from './new-version.ts'
import { NO_TRANSITIONS, TransitionJudge, type Transitions } from './transitions.ts'

/** What an edit is made from. */
export interface EditRequest {
  /** Canonical path of the document. */
  path: string
  file: StoredFile
  /** The tree of `file`. */
  tree: TreeDocument
  wanted: Edit
  /** Looks in steps at the edit as it was asked for, before the data model does. @throws Fault */
  check(asked: ProposedEdit, view: View, derived: Derived): Steps<void>
  /** What its event says to those who decide about its delivery (EVT-67), in steps. */
  facts(shown: Shown): Steps<string>
}

/** An edit as it would be committed, with all that is known of the document it would leave. */
export interface JudgedEdit extends EncodedEdit {
  /** Markup of the new nodes as stored, without white space outside (HTTP-81). */
  inserted: string
  /** The same as subscribers put it into their copies (EVT-25). */
  told: string
  way: Way
  /** The data model has added nothing. */
  isAsAsked: boolean
  /** More than the new nodes is other than before: whoever makes the edit by what they are told does not get the same. */
  isBeyond: boolean
  derived: Derived
  newTree: () => Steps<TreeDocument>
  /** Shows the tree of the new document. */
  show: ShowTree
  /** Fragment tag of the first new element (HTTP-81). */
  tag: string | undefined
  facts: string
  judgement: Judgement
  /** Values that others may refer to and that the edit takes away. */
  losses: Loss[]
  transitions: Transitions
  /** Makes a copy of the new document, in which the first nodes are those of the edit. */
  open(): Promise<WrittenPlace>
}

/** What is found out about an edit while it is shown; without a judgement a copy has to be completed first. */
type Looked = Omit<JudgedEdit, 'judgement' | 'open' | 'isAsAsked' | 'isBeyond'> & {
  judgement: Judgement | undefined
  /** The new nodes as composition reads them, where the edit was made in that reading. */
  shown: Shown | undefined
}

/** Milliseconds of the processor for which the document itself may show an edit; an edit that takes longer to judge is made on a copy. */
const LOOK = 25

/** UTF-16 code units of a document whose bytes are made before it shows an edit: a few milliseconds. */
const LARGE = 1024 * 1024

/** The same for an edit that is looked at together with others. */
const LOOK_AT_ONCE = 10

/**
 * @throws Fault when the edit cannot be made, or must not
 */
export async function judgeEdit(site: Site, model: ModelState, request: EditRequest): Promise<JudgedEdit> {
  try {
    const judged = await judgedInPlace(site, model, request)
    await inTurns(writingStoredForm(judged.derived), judged.derived.items.length)
    return judged
  } catch (error) {
    throw faultOf(error)
  }
}

/**
 * `judgeEdit` without a pause.
 *
 * @returns undefined where that takes long, or where the data model has something to do
 * @throws Fault as `judgeEdit`
 */
export function judgeEditAtOnce(site: Site, model: ModelState, request: EditRequest): JudgedEdit | undefined {
  const { registry, transitions } = model
  const { tree, wanted } = request
  if (tree.source.length > LARGE || TransitionJudge.of(site, transitions)) return undefined
  try {
    const read = ifShort(readingAsWritten(tree))?.value
    const stake = read && ifShort(findingStake(registry, tree, wanted, read))?.value
    if (!stake) return undefined
    const edit = ifShort(editing(tree, wanted), LOOK_AT_ONCE)?.value
    const looked = shownInPlace(beforeEdit(site, registry, request, { stake, read }), edit, LOOK_AT_ONCE)
    // What is shown otherwise is judged once more, by code as well.
    return looked?.shown ? undefined : looked?.judgement && asJudged(request, looked, looked.judgement)
  } catch (error) {
    throw faultOf(error)
  }
}

function faultOf(error: unknown): unknown {
  if (error instanceof EditError) return EDIT_FAULTS[error.reason]?.(error.message) ?? overLimit(error)
  return error instanceof TreeError ? unusable(error) : error
}

async function judgedInPlace(site: Site, model: ModelState, request: EditRequest): Promise<JudgedEdit> {
  const { registry, transitions: transitionSink } = model
  const { path, tree, wanted } = request
  const read = await inTurns(readingAsWritten(tree), tree.source.length)
  const stake = await inTurns(findingStake(registry, tree, wanted, read), tree.source.length)
  const judge = TransitionJudge.of(site, transitionSink)
  const states = judge && (await inTurns(judge.stake(tree, wanted), tree.source.length))
  const before = beforeEdit(site, registry, request, {
    stake,
    read,
    watched: judge && states && { judge, states },
  })
  /** For a proposal that is a document of its own. */
  const lookInTurns = async (proposal: ProposedEdit, judged?: Judgement) => {
    await putInOnePiece(proposal)
    return proposal.propose(view => inTurns(looking(before, proposal, view, judged), proposal.source.length))
  }
  const edit = ifShort(editing(tree, wanted))?.value
  const encoded = edit && tree.source.length > LARGE ? await encodedInTurns(before, edit) : undefined
  const looked = shownInPlace(before, edit, LOOK, encoded) ?? (await lookInTurns(await proposedCopy(tree, wanted)))
  const judgement = looked.judgement && (await judgedShown(site, model, request, looked.judgement, looked.shown))
  if (judgement) return asJudged(request, looked, judgement)
  const completed = await completedEdit({ registry, host: model.host, path }, tree, wanted)
  const copied = await lookInTurns(completed.proposal, completed.judgement)
  const all = await judgedShown(site, model, request, completed.judgement, copied.shown)
  const isBeyond = completed.isBeyond || copied.way === 'reparsed'
  return { ...copied, isAsAsked: false, isBeyond, judgement: all, open: async () => copyPlace(completed.place) }
}

function asJudged({ tree, wanted }: EditRequest, looked: Looked, judgement: Judgement): JudgedEdit {
  const isBeyond = looked.way === 'reparsed'
  return { ...looked, isAsAsked: true, isBeyond, judgement, open: async () => (await editedCopy(tree, wanted)).place }
}

/** Shows an edit in the document itself. @param most milliseconds of the processor @returns undefined where that takes longer */
function shownInPlace(
  before: Before,
  edit: ProposedEdit | undefined,
  most: number,
  encoded?: EncodedEdit,
): Looked | undefined {
  return edit?.propose(view => ifShort(looking(before, edit, view, undefined, encoded), most))?.value
}

function beforeEdit(
  site: Site,
  registry: ModelState['registry'],
  request: EditRequest,
  more: Pick<Before, 'stake' | 'read' | 'watched'>,
): Before {
  const { tree } = request
  return { site, registry, request, source: textOf(tree), revision: revisionOf(tree), ...more }
}

/** What is known before an edit is shown. */
interface Before {
  site: Site
  registry: ModelState['registry']
  request: EditRequest
  /** Of the tree, which may show the edit when it is looked at. */
  source: SourceText
  revision: ReturnType<typeof revisionOf>
  stake: StepsOf<typeof findingStake>
  /** The document as composition reads it. */
  read: TreeDocument
  /** Where somebody waits for states of items. */
  watched?: { judge: TransitionJudge; states: StepsOf<TransitionJudge['stake']> } | undefined
}

type StepsOf<Work extends (...given: never[]) => Steps<unknown>> = ReturnType<Work> extends Steps<infer T> ? T : never

/** The bytes of an edit, in steps. */
function encodingProposal(
  { site, request: { file }, source }: Before,
  { way, changes, source: text }: ProposedEdit,
  judged?: Judgement,
): Steps<EncodedEdit> {
  // What the data model adds is no part of the edit.
  const before = judged || way === 'reparsed' ? undefined : file.spliced
  return before ? encodingEdit(site, before, source, changes) : encodingWhole(site, text, file.bytes)
}

function* encodingWhole(site: Site, text: string, before: Uint8Array | undefined): Steps<EncodedEdit> {
  const { bytes, digest } = yield* encodingText(site, text, before)
  return { body: new SplicedBytes([bytes]), digest }
}

/** The text of a large document would be put together by whoever looks at it first, beside other work. */
async function putInOnePiece({ source }: ProposedEdit): Promise<void> {
  if (source.length > LARGE) await inOwnTurn(() => inOnePiece(source))
}

/** The bytes of an edit of a large document, before it is shown: they would take most of the time for which it may be. */
async function encodedInTurns(before: Before, edit: ProposedEdit): Promise<EncodedEdit> {
  // Of what is spliced nobody reads the whole.
  if (edit.way === 'reparsed') await putInOnePiece(edit)
  return inTurns(encodingProposal(before, edit), edit.source.length)
}

/** Finds out, in steps, what there is to know of an edit that is shown. */
function* looking(
  before: Before,
  proposal: ProposedEdit,
  view: View,
  judged?: Judgement,
  encoded?: EncodedEdit,
): Steps<Looked> {
  const { site, registry, request, revision, stake, read, watched } = before
  const { path, file, tree, wanted } = request
  const { way, accepting, changes } = proposal
  checkEncoding(otherCharset(file.resource.type), before.source.source, changes)
  if (proposal.inserted.length > LONG) yield* puttingInOnePiece(proposal.inserted)
  const inserted = trimmed(proposal.inserted)
  const { document, nodes, parents } = view
  const { body, digest, splices } = encoded ?? (yield* encodingProposal(before, proposal, judged))
  const changed = new Set(elementsAround(document, parents))
  const now = proposal.shown?.document ?? (yield* readingProposed({ tree, read }, document, proposal))
  const { derived, made } = yield* derivingEdit(tree, revision, view, site.derivation, changed, now)
  if (!judged) yield* request.check(proposal, view, derived)
  const judgement =
    judged ?? (yield* judging(registry, path, writtenPlace(view), proposal.shown && writtenPlace(proposal.shown)))
  const shown = proposal.shown?.nodes ?? nodes
  const told = isOneElement(shown) ? inserted : proposal.inserted
  const show: ShowTree = async look => {
    const inTree = document === tree && proposal.propose(shown => ifShort(look(shown.document), LOOK))
    if (inTree) return inTree.value
    const own = document === tree ? await proposedCopy(tree, wanted) : proposal
    return own.propose(shown => inTurns(look(shown.document), shown.document.source.length))
  }
  const tag = yield* taggingElement(site, shown, document, { path, digest })
  const facts = yield* request.facts(proposal.shown ?? view)
  // Where prefixed elements stand otherwise for the standard, what goes may stand elsewhere in its tree (COMP-6).
  const compared = proposal.shown && document !== tree ? 'reparsed' : way
  const seen = { tree, read, now, asShown: proposal.shown, view, way: compared, entries: derived.entries }
  const losses = yield* findingEditLosses(registry, stake, seen)
  const transitions = watched
    ? yield* watched.judge.edit(path, watched.states, wanted, { tree, view, proposal })
    : NO_TRANSITIONS
  const newTree = function* () {
    const accepted = yield* accepting()
    made(accepted)
    return accepted
  }
  return {
    inserted,
    told,
    way,
    shown: proposal.shown,
    newTree,
    show,
    body,
    digest,
    splices,
    derived,
    tag,
    facts,
    judgement,
    losses,
    transitions,
  }
}

/**
 * Schemas and shapes hold where elements are shown as well, without anything being added (COMP-147): of a document that the
 * edit makes a page which is put together, in all of it. Where an element is removed, what shapes find is what that newly
 * breaks in either reading (MOD-98).
 *
 * @throws Fault 422 by the first step of MOD-112 that fails
 */
async function judgedShown(
  site: Site,
  { registry, host }: ModelState,
  { path, file, tree, wanted }: EditRequest,
  judgement: Judgement,
  shown: Shown | undefined,
): Promise<Judgement> {
  const shapes = registry.shapesAt(path)
  const removed = wanted.op === 'remove' ? wanted.target : undefined
  const without = removed && { failures: judgement.failures, document: tree, element: removed }
  const own = without ? { ...judgement, failures: await newFailures(shapes, without) } : judgement
  if (!shown) return own
  const { document } = shown
  const { length } = document.source
  const place = isReadAsWritten(site, file) ? writtenPlace(shown) : { document }
  const found =
    (await inTurns(judging(registry, path, place), length)) ??
    (await judgeAsItIs({ registry, host, path }, copyPlace(place)))
  const { failures, requirements } = found
  if (!removed || failures.length === 0) return withReading(own, found)
  const before = await inTurns(findingShown(tree, [removed]), length)
  const [element] = before.nodes.filter(isElement)
  const removal = element && { failures, document: before.document, element }
  return withReading(own, { requirements, failures: removal ? await newFailures(shapes, removal) : failures })
}

/** Whether nothing but white space stands around one new element; white space that has joined words is part of these. */
function isOneElement(nodes: readonly ChildNode[]): boolean {
  return nodes.filter(node => !isText(node) || !isBlank(node.value)).length === 1 && nodes.some(isElement)
}

/** The same edit with a document that a cascade has changed further. */
export async function afterCascade(
  site: Site,
  file: StoredFile,
  edit: JudgedEdit,
  { document, part }: WrittenPlace,
): Promise<JudgedEdit> {
  const { bytes, digest } = await inTurns(encodingText(site, document.source, file.bytes), document.source.length)
  const { path } = file.resource
  const stored = broughtBy({ part })
  const brought = isReadAsWritten(site, file)
    ? (await inTurns(findingShown(document, stored), document.source.length)).nodes
    : stored
  const inserted = brought.map(node => outerMarkup(node, document.kind)).join('')
  const tag =
    edit.tag && (await inTurns(taggingElement(site, brought, document, { path, digest }), document.source.length))
  const derived = await deriveInTurns(document, site.derivation, true)
  return {
    ...edit,
    inserted,
    told: inserted,
    body: new SplicedBytes([bytes]),
    digest,
    splices: undefined,
    derived,
    tag,
    show: look => inTurns(look(document), document.source.length),
    newTree: () => done(document),
  }
}

/** Fragment tag of the first new element (HTTP-81). */
export function* taggingElement(
  site: Site,
  nodes: readonly ChildNode[],
  { kind }: TreeDocument,
  stored: { path: string; digest: string },
): Steps<string | undefined> {
  const element = nodes.find(isElement)
  return (
    element && fragmentTag(yield* tellingFragment(yield* writingStretches(element, kind)), site.documentPart(stored))
  )
}

const EDIT_FAULTS: Partial<Record<EditError['reason'], (message: string) => Fault>> = {
  empty: () => new Fault(400, 'EmptyBody', 'The body holds no markup. Use DELETE to remove an element.'),
  'no-element': () => new Fault(422, 'InvalidFragment', 'The body holds no element to put in place of the old one.'),
  'void-anchor': () => new Fault(422, 'InvalidPlacement', 'This element cannot have children; use before or after.'),
  malformed: message => new Fault(422, 'InvalidFragment', `The fragment is not well formed: ${message}`),
  'other-encoding': message => new Fault(422, 'InvalidFragment', message),
  directives: message => new Fault(422, 'InvalidFragment', message),
  parentless: () => new Fault(400, 'InvalidPlacement', 'The root element has no siblings; use append or prepend.'),
  root: () => new Fault(422, 'IllegalMove', 'The root element can be neither removed nor moved.'),
  'into-itself': () => new Fault(422, 'IllegalMove', 'An element cannot be moved into itself.'),
}

function overLimit({ message }: EditError): Fault {
  return new Fault(422, 'InvalidFragment', `The document would break a limit: ${message}`)
}
