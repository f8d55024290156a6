/**
 * Local proof of an edit: that the new source, parsed as a whole, gives the expected tree, shown by parsing only the
 * surroundings of what changes.
 */

import { provingClean } from '../clean.ts'
import { comparing } from '../compare.ts'
import { parsingFragment } from '../fragment.ts'
import { MAX_DEPTH, TreeError, tooDeep } from '../limits.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../nodes.ts'
import { textOf } from '../source-text.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import type { Candidate, Plan, PlannedSplice, Site } from './plan.ts'
import { type Region, regionAround } from './region.ts'
import { contentOf } from './shape.ts'
import { type End, type Skeleton, skeletonOf, trying } from './skeleton.ts'
import { mayStray } from './stray.ts'
import { type Tail, workingWithoutTail } from './tail.ts'

/** One region of the document as the edit leaves it. */
export interface Piece {
  region: Region
  /** What it holds, parsed. */
  nodes: ChildNode[]
  /** Offset of the region in the text that was parsed. */
  skip: number
  /** What it should hold by the plan; equal to `nodes`. */
  expected: ChildNode[]
  /** An element of the tree and what stands for it in `expected`, when all of it is read anew. */
  lift: { element: ElementNode; by: ElementNode } | undefined
  /** Elements of the tree that end otherwise than by moving with the source; their new ends count in that text, too. */
  ends: End[]
  changes: PlannedSplice[]
}

/**
 * `disproved`: the parsed tree is certainly another one. `unknown`: the surroundings do not tell.
 */
export type Verdict = Piece[] | 'disproved' | 'unknown'

/** Sites whose surroundings overlap, judged together. */
interface Group {
  region: Region
  sites: number[]
  /** Their host, when its tags are implied and it is therefore read anew as a child of the region. */
  lifted: ElementNode | undefined
}

/**
 * Prepares proofs for one plan.
 *
 * @param local whether the document allows them at all
 * @returns the judge of candidates; its steps throw TreeError when the result would break a limit
 */
export function* preparingProofs(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  local: boolean,
): Steps<(candidate: Candidate) => Steps<Verdict>> {
  const groups = local && plan.local ? groupsOf(document, tail, plan) : undefined
  const judges: Judge[] = []
  for (const group of groups ?? []) {
    const trialOf = document.kind === 'xml' ? xmlTrial(group) : yield* preparingTrials(document, tail, plan, group)
    judges.push(candidate => judging(document, tail, plan, candidate, group, trialOf))
  }
  return candidate => provingAll(judges, groups !== undefined, candidate)
}

type Judge = (candidate: Candidate) => Steps<Piece | 'disproved' | 'unknown'>

function* provingAll(judges: readonly Judge[], known: boolean, candidate: Candidate): Steps<Verdict> {
  const pieces: Piece[] = []
  let unknown = !known
  for (const judge of judges) {
    const piece = yield* judge(candidate)
    if (piece === 'disproved') return piece
    if (piece === 'unknown') unknown = true
    else pieces.push(piece)
  }
  return unknown ? 'unknown' : pieces
}

/** In the order of the source; undefined when a site cannot be judged, or hangs on another one in a different parent. */
function groupsOf(document: TreeDocument, tail: Tail, plan: Plan): Group[] | undefined {
  const lifted = new Set(plan.sites.flatMap(site => (needsLift(document, tail, site) ? (site.host ?? []) : [])))
  const groups: Group[] = []
  for (const [i, site] of plan.sites.entries()) {
    const { host, index, gone } = site
    const lift = host && lifted.has(host) ? host : undefined
    const region = lift
      ? regionOf(document, tail, lift)
      : host && regionAround(document, tail, host, index, index + gone)
    if (!region || !holds(region, site)) return undefined
    groups.push({ region, sites: [i], lifted: lift })
  }
  const [a, b] = groups.sort((x, y) => x.region.start - y.region.start || x.region.end - y.region.end)
  if (!a || !b || a.region.end < b.region.start) return groups
  if (a.region.parent !== b.region.parent || a.lifted !== b.lifted) return undefined
  const from = Math.min(a.region.from, b.region.from)
  const region = regionAround(document, tail, a.region.host, from, Math.max(a.region.to, b.region.to))
  return region && [{ region, sites: [...a.sites, ...b.sites], lifted: a.lifted }]
}

/** Whether the site is at the beginning of an element whose start tag is implied by what stands there. */
function needsLift(document: TreeDocument, tail: Tail, { host, index, gone }: Site): boolean {
  if (!host || host.sourceCodeLocation) return false
  return regionAround(document, tail, host, index, index + gone) === undefined
}

/** The region of an element among its siblings. */
function regionOf(document: TreeDocument, tail: Tail, element: ElementNode): Region | undefined {
  const parent = element.parentNode
  if (!parent || !isElement(parent)) return undefined
  const index = parent.childNodes.indexOf(element)
  return regionAround(document, tail, parent, index, index + 1)
}

function holds(region: Region, { span }: Site): boolean {
  return span !== undefined && region.start <= span.startOffset && span.endOffset <= region.end
}

/** Parses the text of a region in its surroundings. */
type TrialOf = (text: string) => Steps<RegionTrial | 'disproved' | 'unknown'>

interface RegionTrial {
  nodes: ChildNode[]
  ends: End[]
  /** Offset of the region in what was parsed. */
  skip: number
  /** Length of what was parsed. */
  length: number
}

function* judging(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  candidate: Candidate,
  { region, sites, lifted }: Group,
  trialOf: TrialOf,
): Steps<Piece | 'disproved' | 'unknown'> {
  const changes: PlannedSplice[] = []
  for (const i of sites) {
    const span = plan.sites[i]?.span
    const text = candidate.texts[i] ?? ''
    if (document.kind === 'html' && mayStray(text)) return 'unknown'
    if (span) changes.push({ start: span.startOffset, end: span.endOffset, text })
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  const trial = yield* trialOf(textOf(document).changedBetween(changes, region.start, region.end))
  if (typeof trial === 'string') return trial
  const { nodes, ends, skip } = trial
  const changed = sites.flatMap(i => plan.sites[i] ?? [])
  if (plan.isShown) {
    if (lifted) return 'unknown'
    yield* checkingDepth(nodes, MAX_DEPTH - region.ancestors.length)
    return { region, nodes, skip, expected: nodes, lift: undefined, ends, changes }
  }
  const lift = lifted && { element: lifted, by: changedElement(lifted, changed) }
  const expected = lift ? replacedIn(region, lift.element, lift.by) : changedChildren(region, changed)
  if (!(yield* comparingAt(region, tail, expected, nodes, trial.length))) return 'disproved'
  yield* checkingDepth(nodes, MAX_DEPTH - region.ancestors.length)
  return { region, nodes, skip, expected, lift, ends, changes }
}

/**
 * The trailing white space of the body is missing from the document's tree while edits are made.
 *
 * @param length of the text in which the offsets of `nodes` count
 */
function comparingAt(
  region: Region,
  tail: Tail,
  expected: ChildNode[],
  nodes: ChildNode[],
  length: number,
): Steps<boolean> {
  const equal = comparing(expected, nodes)
  if (region.next.kind !== 'eof') return equal
  return workingWithoutTail(nodes, { ...tail, start: length - (region.end - tail.start) }, equal)
}

/** The children of a region after changes at these sites. */
function changedChildren(
  { parent, from, to }: { parent: ParentNode; from: number; to: number },
  sites: Site[],
): ChildNode[] {
  let nodes = parent.childNodes.slice(from, to)
  for (const { index, gone, nodes: added } of [...sites].sort((a, b) => b.index - a.index || b.gone - a.gone)) {
    nodes = nodes.slice(0, index - from).concat(added, nodes.slice(index - from + gone))
  }
  return nodes
}

function changedElement(element: ElementNode, sites: Site[]): ElementNode {
  const { length } = element.childNodes
  return { ...element, childNodes: changedChildren({ parent: element, from: 0, to: length }, sites) }
}

function replacedIn({ parent, from, to }: Region, element: ElementNode, by: ElementNode): ChildNode[] {
  return parent.childNodes.slice(from, to).map(node => (node === element ? by : node))
}

/** @throws TreeError when elements are inside each other on more than so many levels */
function* checkingDepth(nodes: readonly ChildNode[], levels: number): Steps<void> {
  const lists = [{ nodes, left: levels }]
  let seen = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    for (const node of list.nodes) {
      if (!isElement(node)) continue
      if (list.left <= 0) throw tooDeep()
      if (++seen % NODES_PER_STEP === 0) yield
      lists.push({ nodes: contentOf(node).childNodes, left: list.left - 1 })
    }
  }
}

function xmlTrial({ region }: Group): TrialOf {
  return text => tryingXml(region, text)
}

function* tryingXml({ host }: Region, text: string): ReturnType<TrialOf> {
  try {
    const nodes = yield* parsingFragment('xml', text, host)
    return { nodes, ends: [], skip: 0, length: text.length }
  } catch (error) {
    if (error instanceof TreeError && error.reason === 'malformed') return 'disproved'
    throw error
  }
}

/**
 * The region as it is must parse to what the tree has, and leave a state; the region as it shall be must leave the same.
 */
function* preparingTrials(document: TreeDocument, tail: Tail, plan: Plan, group: Group): Steps<TrialOf> {
  const skeleton = skeletonOf(document, group.region)
  const control = skeleton && (yield* findingControl(skeleton, tail, plan, group))
  return text => tryingHtml(skeleton, control, text)
}

function* tryingHtml(skeleton: Skeleton | undefined, control: string | undefined, text: string): ReturnType<TrialOf> {
  if (!skeleton || control === undefined) return 'unknown'
  const trial = yield* trying(skeleton, text)
  if (!trial) return 'disproved'
  if ((trial.state ?? '') !== control) return 'unknown'
  // Before the end of the document, the ancestors lack end tags that they have.
  const judged: DocumentNode =
    trial.state === undefined ? trial.root : { nodeName: '#document', childNodes: trial.nodes }
  if (!(yield* provingClean(judged, trial.text))) return 'unknown'
  return { nodes: trial.nodes, ends: trial.ends, skip: skeleton.prefix.length, length: trial.text.length }
}

/** @returns the state behind the region; undefined when the surroundings do not explain the tree as it is */
function* findingControl(skeleton: Skeleton, tail: Tail, plan: Plan, group: Group): Steps<string | undefined> {
  const { region } = group
  const shells: PlannedSplice[] = []
  const nodes = region.parent.childNodes.slice(region.from, region.to)
  for (const i of group.lifted ? [] : group.sites) {
    const site = plan.sites[i]
    const node = site?.gone ? region.parent.childNodes[site.index] : undefined
    const place = node?.sourceCodeLocation
    // What a closed element holds has no effect behind it, and may be long.
    if (!site || !node || !isElement(node) || !place?.startTag || !place.endTag) continue
    shells.push({ start: place.startTag.endOffset, end: place.endTag.startOffset, text: '' })
    nodes[site.index - region.from] = shellOf(node)
  }
  const trial = yield* trying(skeleton, textOf(skeleton.document).changedBetween(shells, region.start, region.end))
  if (!trial || !(yield* comparingAt(region, tail, nodes, trial.nodes, trial.text.length))) return undefined
  return trial.state ?? ''
}

function shellOf(element: ElementNode): ElementNode {
  const shell: ElementNode = { ...element, childNodes: [] }
  if (element.content) shell.content = { nodeName: '#document-fragment', childNodes: [] }
  return shell
}
