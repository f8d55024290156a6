/**
 * Local proof of an edit: that the new source, parsed as a whole, gives the expected tree, shown by parsing only the
 * surroundings of what changes.
 */

import { isClean } from '../../tree/clean.ts'
import { equalNodes } from '../../tree/compare.ts'
import { parseFragment } from '../../tree/fragment.ts'
import { MAX_DEPTH, TreeError, tooDeep } from '../../tree/limits.ts'
import { type ChildNode, type ElementNode, isElement, type TreeDocument } from '../../tree/nodes.ts'
import { shiftEnd, shiftNodes } from './offsets.ts'
import { type Candidate, type Change, changedSource, type Plan, type Site } from './plan.ts'
import { type Region, regionAround } from './region.ts'
import { contentOf } from './shape.ts'
import { type Skeleton, skeletonOf, tryText } from './skeleton.ts'
import { mayStray } from './stray.ts'
import { type Tail, withoutTail } from './tail.ts'

/** One region of the document as the edit leaves it. */
export interface Piece {
  region: Region
  /** What it holds, parsed; offsets count from the start of the region. */
  nodes: ChildNode[]
  /** What it should hold by the plan; equal to `nodes`. */
  expected: ChildNode[]
  /** Counterparts of the region's open elements, with their new ends counted likewise. */
  open: ElementNode[]
  changes: Change[]
}

/**
 * `disproved`: the parsed tree is certainly another one. `unknown`: the surroundings do not tell.
 */
export type Verdict = Piece[] | 'disproved' | 'unknown'

/** Sites whose surroundings overlap, judged together. */
interface Group {
  region: Region
  sites: number[]
}

/**
 * Prepares proofs for one plan.
 *
 * @param local whether the document allows them at all
 * @returns the judge of candidates; it throws TreeError when the result would break a limit
 */
export function proverOf(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  local: boolean,
): (candidate: Candidate) => Verdict {
  const groups = local && plan.local ? groupsOf(document, tail, plan) : undefined
  if (!groups) return () => 'unknown'
  const judges = groups.map(group => {
    const trialOf = document.kind === 'xml' ? xmlTrial(group) : htmlTrial(document, tail, plan, group)
    return (candidate: Candidate) => judge(document, tail, plan, candidate, group, trialOf)
  })
  return candidate => {
    const pieces: Piece[] = []
    let unknown = false
    for (const judgeOf of judges) {
      const piece = judgeOf(candidate)
      if (piece === 'disproved') return piece
      if (piece === 'unknown') unknown = true
      else pieces.push(piece)
    }
    return unknown ? 'unknown' : pieces
  }
}

/** In the order of the source; undefined when a site cannot be judged, or hangs on another one in a different parent. */
function groupsOf(document: TreeDocument, tail: Tail, plan: Plan): Group[] | undefined {
  const groups: Group[] = []
  for (const [i, site] of plan.sites.entries()) {
    const region = site.host && regionAround(document, tail, site.host, site.index, site.index + site.gone)
    if (!region || !holds(region, site)) return undefined
    groups.push({ region, sites: [i] })
  }
  const [a, b] = groups.sort((x, y) => x.region.start - y.region.start || x.region.end - y.region.end)
  if (!a || !b || a.region.end < b.region.start) return groups
  if (a.region.parent !== b.region.parent) return undefined
  const from = Math.min(a.region.from, b.region.from)
  const region = regionAround(document, tail, a.region.host, from, Math.max(a.region.to, b.region.to))
  return region && [{ region, sites: [...a.sites, ...b.sites] }]
}

function holds(region: Region, { span }: Site): boolean {
  return span !== undefined && region.start <= span.startOffset && span.endOffset <= region.end
}

/** Parses the text of a region in its surroundings. */
type TrialOf = (text: string) => RegionTrial | 'disproved' | 'unknown'

interface RegionTrial {
  nodes: ChildNode[]
  open: ElementNode[]
  /** Offset of the region in what was parsed. */
  skip: number
  /** Length of what was parsed. */
  length: number
}

function judge(
  document: TreeDocument,
  tail: Tail,
  plan: Plan,
  candidate: Candidate,
  { region, sites }: Group,
  trialOf: TrialOf,
): Piece | 'disproved' | 'unknown' {
  const changes: Change[] = []
  for (const i of sites) {
    const span = plan.sites[i]?.span
    const text = candidate.texts[i] ?? ''
    if (document.kind === 'html' && mayStray(text)) return 'unknown'
    if (span) changes.push({ start: span.startOffset, end: span.endOffset, text })
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  const trial = trialOf(changedSource(document.source, changes, region.start, region.end))
  if (typeof trial === 'string') return trial
  const { nodes, open, skip } = trial
  const expected = expectedNodes(plan, region, sites)
  if (!equalAt(region, tail, expected, nodes, trial.length)) return 'disproved'
  if (region.ancestors.length + heightOf(nodes) > MAX_DEPTH) throw tooDeep()
  shiftNodes(nodes, -skip)
  for (const element of open) if (element.sourceCodeLocation) shiftEnd(element.sourceCodeLocation, -skip)
  return { region, nodes, expected, open, changes }
}

/**
 * The trailing white space of the body is missing from the document's tree while edits are made.
 *
 * @param length of the text in which the offsets of `nodes` count
 */
function equalAt(region: Region, tail: Tail, expected: ChildNode[], nodes: ChildNode[], length: number): boolean {
  const compare = (): boolean => equalNodes(expected, nodes)
  if (region.next.kind !== 'eof') return compare()
  return withoutTail(nodes, { ...tail, start: length - (region.end - tail.start) }, compare)
}

function expectedNodes(plan: Plan, region: Region, sites: number[]): ChildNode[] {
  const nodes = region.parent.childNodes.slice(region.from, region.to)
  const ordered = sites.flatMap(i => plan.sites[i] ?? []).sort((a, b) => b.index - a.index || b.gone - a.gone)
  for (const site of ordered) nodes.splice(site.index - region.from, site.gone, ...site.nodes)
  return nodes
}

function heightOf(nodes: ChildNode[]): number {
  let height = 0
  for (const node of nodes) {
    if (isElement(node)) height = Math.max(height, 1 + heightOf(contentOf(node).childNodes))
  }
  return height
}

/** The mark in front keeps an XML declaration from being one. */
const MARK = '<!---->'

function xmlTrial({ region }: Group): TrialOf {
  return text => {
    try {
      const nodes = parseFragment('xml', MARK + text, region.host).slice(1)
      return { nodes, open: [], skip: MARK.length, length: MARK.length + text.length }
    } catch (error) {
      if (error instanceof TreeError && error.reason === 'malformed') return 'disproved'
      throw error
    }
  }
}

/**
 * The region as it is must parse to what the tree has, and leave a state; the region as it shall be must leave the same.
 */
function htmlTrial(document: TreeDocument, tail: Tail, plan: Plan, group: Group): TrialOf {
  const skeleton = skeletonOf(document, group.region)
  const control = skeleton && controlState(skeleton, tail, plan, group)
  if (!skeleton || control === undefined) return () => 'unknown'
  return text => {
    const trial = tryText(skeleton, text)
    if (!trial) return 'disproved'
    if ((trial.state ?? '') !== control) return 'unknown'
    if (!isClean({ nodeName: '#document', childNodes: trial.nodes }, trial.text)) return 'unknown'
    return { nodes: trial.nodes, open: trial.open, skip: skeleton.prefix.length, length: trial.text.length }
  }
}

/** @returns undefined when the surroundings do not explain the tree as it is */
function controlState(skeleton: Skeleton, tail: Tail, plan: Plan, { region, sites }: Group): string | undefined {
  const shells: Change[] = []
  const nodes = region.parent.childNodes.slice(region.from, region.to)
  for (const i of sites) {
    const site = plan.sites[i]
    const node = site?.gone ? region.parent.childNodes[site.index] : undefined
    const place = node?.sourceCodeLocation
    // What a closed element holds has no effect behind it, and may be long.
    if (!site || !node || !isElement(node) || !place?.startTag || !place.endTag) continue
    shells.push({ start: place.startTag.endOffset, end: place.endTag.startOffset, text: '' })
    nodes[site.index - region.from] = shellOf(node)
  }
  const trial = tryText(skeleton, changedSource(skeleton.document.source, shells, region.start, region.end))
  if (!trial || !equalAt(region, tail, nodes, trial.nodes, trial.text.length)) return undefined
  const skip = region.start - skeleton.prefix.length
  const inPlace = trial.open.every((element, i) => {
    const end = region.open[i]?.sourceCodeLocation?.endOffset
    return end === undefined || end === (element.sourceCodeLocation?.endOffset ?? 0) + skip
  })
  return inPlace ? (trial.state ?? '') : undefined
}

function shellOf(element: ElementNode): ElementNode {
  const shell: ElementNode = { ...element, childNodes: [] }
  if (element.content) shell.content = { nodeName: '#document-fragment', childNodes: [] }
  return shell
}
