/** Finds the text that gives the planned tree: the ways to write an edit, from the least to the most that is written. */

import { isDeepStrictEqual } from 'node:util'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { writingMarkup } from '../serialize.ts'
import { textOf } from '../source-text.ts'
import { done, NODES_PER_STEP, type Steps } from '../steps.ts'
import { findingProgramsIn, keepsPrograms, type Program } from '../template-hosts.ts'
import { concerningPrefixed, keepsWritten, writingAsWritten } from './as-written.ts'
import { childrenFound, findingCounterparts, parentsFound } from './counterpart.ts'
import { EditError } from './error.ts'
import { writingMarkupIn } from './markup.ts'
import { findingOutcome } from './outcome.ts'
import { preparingPatch, workingWithPatch } from './patch.ts'
import { type Candidate, candidates, changedSource, changesOf, type Plan, type PlannedSplice } from './plan.ts'
import { type ProposedEdit, patching, provingLocal, replaced } from './proposal.ts'
import { type Piece, preparingProofs } from './prove.ts'
import { tagsInPlace } from './shape.ts'
import type { Tail } from './tail.ts'
import { type Attempts, attemptsFor, parsingExpected } from './whole.ts'
import { provingWritable } from './writable.ts'

/**
 * Writes, in steps, what is planned.
 *
 * @param document its tree lacks the trailing white space of its body meanwhile
 * @throws TreeError when the result breaks a limit; EditError when it is no well-formed XML
 */
export function* writing(document: TreeDocument, tail: Tail, plan: Plan): Steps<ProposedEdit> {
  const inserted = yield* writingMarkupOf(document, plan.parents, plan.nodes)
  const attempts = attemptsFor(document, tail)
  // Most texts are proved without it.
  const planned = () =>
    preparingPatch(
      plan.sites.map(({ parent, index, gone, nodes }) => ({ parent, from: index, to: index + gone, nodes })),
    )
  const judge = yield* preparingProofs(document, tail, plan, yield* provingLocal(document))
  const list = candidates(plan)
  const few = selection(list, Math.max(2, attempts.left - 2))
  for (const [tried, candidate] of list.entries()) {
    const asWritten = tried === 1 && (yield* writingAsWritten(document, plan))
    if (asWritten) return asWritten
    const changes = changesOf(plan, candidate)
    const verdict = yield* judge(candidate)
    const isKept = () => (candidate.way === 'splice' ? done(true) : keepingAll(document, plan, changes))
    if (typeof verdict !== 'string') {
      if (!(yield* isKept())) break
      return yield* writingInPlace(document, plan, verdict, { changes, way: candidate.way, inserted })
    }
    if (verdict === 'disproved' || !few.includes(candidate)) continue
    const written = { changes, way: candidate.way, inserted }
    const proved = yield* workingWithPatch(yield* planned(), provingWhole(attempts, plan, written))
    if (proved && !(yield* isKept())) break
    if (proved) return proved
  }
  const asWritten = list.length === 1 && (yield* writingAsWritten(document, plan))
  if (asWritten) return asWritten
  const programs = yield* findingPrograms(document, plan)
  const proved = yield* workingWithPatch(yield* planned(), climbing(document, tail, plan, attempts, inserted, programs))
  if (proved && !(yield* keepsWritten(document, plan, proved.source))) throw amongDirectives()
  if (proved) return proved

  // Whatever else the text is read as, it keeps the directives that were sent.
  const isSent = (yield* concerningPrefixed(document, plan))
    ? () => false
    : (candidate: Candidate) => keepingPrograms(programs, changesOf(plan, candidate))
  const normalised = list.findLast(candidate => candidate.way === 'normalised' && isSent(candidate))
  const last = normalised ?? list[0]
  const changes = last ? changesOf(plan, last) : [yield* workingWithPatch(yield* planned(), writingWhole(document))]
  if (!keepingPrograms(programs, changes)) throw amongDirectives()
  if (!last && !(yield* keepsWritten(document, plan, changedSource(document.source, changes)))) throw amongDirectives()
  const { parsed, ...found } = yield* findingOutcome(attempts, plan, changes)
  // What the tree has elsewhere than it is written would go along, as what a table moves out of it.
  if (programs.beside.length > 0 && !found.keepsOthers && plan.sites.every(({ nodes }) => nodes.length === 0))
    throw amongDirectives()
  const markup = yield* writingMarkupOf(parsed, found.parents, found.nodes)
  return replaced(document, parsed, { ...found, changes, way: 'reparsed', inserted: markup })
}

function amongDirectives(): EditError {
  const message =
    'Tags around this element are missing or misplaced, and the page cannot be written anew without moving its'
  return new EditError('directives', `${message} directives. Correct it as a whole.`)
}

/**
 * Writes, in steps, what is planned and shown.
 *
 * @returns undefined where the surroundings do not prove that the tree is that of the new text
 * @throws TreeError when the result breaks a limit
 */
export function* writingAgain(document: TreeDocument, tail: Tail, plan: Plan): Steps<ProposedEdit | undefined> {
  const [candidate] = candidates(plan)
  if (!candidate) return undefined
  const judge = yield* preparingProofs(document, tail, plan, yield* provingLocal(document))
  const verdict = yield* judge(candidate)
  if (typeof verdict === 'string') return undefined
  return yield* writingInPlace(document, plan, verdict, {
    changes: changesOf(plan, candidate),
    way: candidate.way,
    inserted: '',
  })
}

/**
 * Writes, in steps, what another reading of the document has been found to be written as.
 *
 * @returns undefined where the plan is not written so, or its surroundings do not prove it
 * @throws TreeError when the result breaks a limit
 */
export function* writingSame(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  { changes, inserted }: ProposedEdit,
): Steps<ProposedEdit | undefined> {
  const candidate = candidates(plan).find(each => isDeepStrictEqual(changesOf(plan, each), changes))
  if (!candidate) return undefined
  const judge = yield* preparingProofs(document, tail, plan, yield* provingLocal(document))
  const verdict = yield* judge(candidate)
  if (typeof verdict === 'string') return undefined
  return yield* writingInPlace(document, plan, verdict, { changes, way: candidate.way, inserted })
}

/** As many items as there are attempts: the first ones and the last. */
function selection<T>(list: T[], count: number): T[] {
  return list.length <= count ? list : [...list.slice(0, count - 1), ...list.slice(-1)]
}

type Writing = Pick<ProposedEdit, 'changes' | 'way' | 'inserted'>

function* writingInPlace(document: TreeDocument, plan: Plan, pieces: Piece[], written: Writing): Steps<ProposedEdit> {
  const lifts = new Map<ParentNode, ParentNode>(pieces.flatMap(({ lift }) => (lift ? [[lift.element, lift.by]] : [])))
  const parents = plan.parents.map(parent => lifts.get(parent) ?? parent)
  const found = new Map<AnyNode, AnyNode>()
  const wanted = [...plan.nodes, ...parents.filter(parent => !pieces.some(({ region }) => region.parent === parent))]
  for (const { expected, nodes } of pieces) {
    for (const [node, other] of yield* findingCounterparts(expected, nodes, wanted)) {
      found.set(node, other)
      if (found.size % NODES_PER_STEP === 0) yield
    }
  }
  const nodes = yield* childrenFound(found, plan.nodes)
  return yield* patching(document, pieces, { ...written, nodes, parents: parentsFound(found, parents) })
}

/** Tries a text by parsing the whole; the document's tree shows what is expected. */
function* provingWhole(attempts: Attempts, plan: Plan, written: Writing): Steps<ProposedEdit | undefined> {
  if (attempts.left-- <= 0) return undefined
  const { document } = attempts
  const parsed = yield* parsingExpected(attempts, changedSource(document.source, written.changes))
  if (!parsed) return undefined
  const wanted = [...plan.nodes, ...plan.parents.filter(parent => parent !== document.root)]
  const found = yield* findingCounterparts(document.root.childNodes, parsed.root.childNodes, wanted)
  const parents = parentsFound(found, plan.parents).map(parent => (parent === document.root ? parsed.root : parent))
  return replaced(document, parsed, { ...written, nodes: yield* childrenFound(found, plan.nodes), parents })
}

/**
 * Writes the smallest ancestor that parses to what it is expected to be, at last the whole document. The document's
 * tree shows what is expected.
 */
function* climbing(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  attempts: Attempts,
  inserted: string,
  programs: Programs,
): Steps<ProposedEdit | undefined> {
  for (const { host } of plan.sites) if (host && !(yield* provingWritable(document, host))) return undefined
  const local = yield* provingLocal(document)
  const ancestors = writtenAncestors(document, plan)
  const few = selection(ancestors, local ? ancestors.length : Math.max(1, attempts.left - 1))
  for (const ancestor of few) {
    const rewriting = yield* planningRewriting(document, ancestor)
    const [candidate] = candidates(rewriting)
    if (!candidate) continue
    const changes = changesOf(rewriting, candidate)
    if (!keepingPrograms(programs, changes)) return undefined
    const judge = yield* preparingProofs(document, tail, rewriting, local)
    const verdict = yield* judge(candidate)
    // Content that does not parse in its own element does not parse in a larger one either.
    if (verdict === 'disproved') break
    if (verdict !== 'unknown') {
      const { nodes, parents } = plan
      return yield* writingInPlace(document, { ...rewriting, nodes, parents }, verdict, {
        changes,
        way: 'ancestor',
        inserted,
      })
    }
    if (attempts.left <= 1) break
    const proved = yield* provingWhole(attempts, plan, { changes, way: 'ancestor', inserted })
    if (proved) return proved
  }
  const change = yield* writingWhole(document)
  if (!keepingPrograms(programs, [change])) return undefined
  return yield* provingWhole({ ...attempts, left: 1 }, plan, { changes: [change], way: 'document', inserted })
}

/** Templates that an edit leaves, whatever is written anew for it: nothing makes other programs of them (LIQ-5, LIQ-6). */
interface Programs {
  beside: Program[]
  /** Of what was sent, or is moved. */
  within: Program[]
}

/** The tree of the document is as it was before the edit. */
function* findingPrograms(document: TreeDocument, { sites, nodes, sent, parents }: Plan): Steps<Programs> {
  const text = textOf(document)
  const gone = sites.flatMap(site => site.parent.childNodes.slice(site.index, site.index + site.gone))
  const leaving = yield* findingProgramsIn(gone, text)
  const elements = new Set(leaving.map(({ element }) => element))
  for (const { host } of sites)
    for (let at: ParentNode | null | undefined = host; at && isElement(at); at = at.parentNode) elements.add(at)
  const spans = sites.flatMap(({ span }) => span ?? [])
  const isWrittenIn = ({ host }: Program) =>
    spans.some(({ startOffset, endOffset }) => host.startOffset < startOffset && endOffset < host.endOffset)
  const all = yield* findingProgramsIn(document.root.childNodes, text)
  const beside = all.filter(program => !elements.has(program.element) && !isWrittenIn(program))
  if (sites.length > 1) return { beside, within: leaving }
  const around = parents.at(-1)
  const source = { source: sent ?? '', slice: (from: number, to: number) => (sent ?? '').slice(from, to) }
  return { beside, within: yield* findingProgramsIn(nodes, source, around && isElement(around) ? around : undefined) }
}

function keepingPrograms({ beside, within }: Programs, changes: readonly PlannedSplice[]): boolean {
  const written = changes.map(({ text }) => text)
  const touched = beside.filter(({ host }) =>
    changes.some(({ start, end }) => start <= host.startOffset && host.endOffset <= end),
  )
  return keepsPrograms(touched, written) && keepsPrograms(within, written)
}

/** Whether what is written anew keeps programs and directives. */
function* keepingAll(document: TreeDocument, plan: Plan, changes: readonly PlannedSplice[]): Steps<boolean> {
  if (!keepingPrograms(yield* findingPrograms(document, plan), changes)) return false
  return yield* keepsWritten(document, plan, changedSource(document.source, [...changes]))
}

/** Elements around all sites that have both their tags, innermost first. */
function writtenAncestors(document: TreeDocument, plan: Plan): ElementNode[] {
  const lines = plan.sites.map(({ parent, host }) => {
    const line: ElementNode[] = []
    let node: ParentNode | null | undefined = host ?? parent
    for (; node && isElement(node); node = node.parentNode) line.push(node)
    return line
  })
  const [first = [], ...others] = lines
  return first.filter(element => {
    const place = element.sourceCodeLocation
    if (!others.every(line => line.includes(element))) return false
    return place?.startTag !== undefined && place.endTag !== undefined && tagsInPlace(document, element)
  })
}

/** Writes an element anew as the tree has it. */
function* planningRewriting(document: TreeDocument, element: ElementNode): Steps<Plan> {
  const parent = element.parentNode ?? document.root
  const host = isElement(parent) ? parent : undefined
  const { startOffset = 0, endOffset = 0 } = element.sourceCodeLocation ?? {}
  const text = yield* host ? writingMarkupIn(document.kind, host, [element]) : writingMarkup(element, document.kind)
  const index = parent.childNodes.indexOf(element)
  const site = { host, parent, index, gone: 1, nodes: [element], span: { startOffset, endOffset } }
  return { sites: [{ ...site, texts: [{ way: 'normalised', text }] }], nodes: [], parents: [], local: true }
}

/** The whole document as its tree stands, behind the document type as its author wrote it. */
function* writingWhole(document: TreeDocument): Steps<PlannedSplice> {
  const { source, kind, root } = document
  const texts: string[] = []
  for (const node of root.childNodes) {
    const place = node.sourceCodeLocation
    const kept = node.nodeName === '#documentType' && place
    texts.push(kept ? source.slice(place.startOffset, place.endOffset) : yield* writingMarkup(node, kind))
  }
  return { start: 0, end: source.length, text: texts.join(kind === 'xml' ? '\n' : '') }
}

/** Writes the markup of nodes that stand, or will stand, in the last of these parents. */
export function* writingMarkupOf(document: TreeDocument, parents: ParentNode[], nodes: ChildNode[]): Steps<string> {
  const [host] = parents.slice(-1)
  if (document.kind === 'html' && host && isElement(host)) return yield* writingMarkupIn('html', host, nodes)
  let markup = ''
  for (const node of nodes) markup += yield* writingMarkup(node, document.kind)
  return markup
}
