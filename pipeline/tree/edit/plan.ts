/** What an edit asks for, in the terms of the tree and of the source: which nodes change places, which bytes change. */

import type { ChildNode, ElementNode, ParentNode, Span } from '../nodes.ts'

/** One place of the tree that changes. */
export interface Site {
  /** Whose children (or template contents) change; undefined inside the contents of a template. */
  host: ElementNode | undefined
  parent: ParentNode
  /** Position among the parent's children. */
  index: number
  /** How many children go: 0 or 1. */
  gone: number
  /** What stands there then. */
  nodes: ChildNode[]
  /** The source that is replaced; undefined where the tree has no such place in the source. */
  span: Span | undefined
  /** What may be written there, best first. */
  texts: Text[]
}

export interface Text {
  way: 'splice' | 'normalised' | 'closed'
  text: string
}

/** One site, or two for a move: where the element was, and where it goes. */
export interface Plan {
  sites: Site[]
  /** The new or moved nodes, in order. */
  nodes: ChildNode[]
  /** The text that the new nodes are parsed of. */
  sent?: string
  /** Whose children change. */
  parents: ParentNode[]
  /** Whether the change can be judged by its surroundings; the shell of an HTML document cannot. */
  local: boolean
  /** What the text becomes was shown elsewhere to be as the author wants it: the sites know no nodes. */
  isShown?: boolean
  /** Prefixed elements are as the standard reads them: nothing puts a page together of them. */
  isStandard?: boolean
}

/** A text for each site of a plan. */
export interface Candidate {
  way: Text['way']
  texts: string[]
}

const WAYS = ['splice', 'normalised', 'closed'] as const

/**
 * What to try, best first: every combination of the sites' texts.
 *
 * @returns none when a site has no place in the source, or the places overlap because the parser moved an element
 */
export function candidates(plan: Plan): Candidate[] {
  const spans = plan.sites
    .flatMap(site => site.span ?? [])
    .sort((a, b) => a.startOffset - b.startOffset || a.endOffset - b.endOffset)
  if (spans.length < plan.sites.length) return []
  if (spans.some((span, i) => span.startOffset < (spans[i - 1]?.endOffset ?? 0))) return []
  let list: { rank: number; texts: string[] }[] = [{ rank: 0, texts: [] }]
  for (const site of plan.sites) {
    list = list.flatMap(({ rank, texts }) =>
      site.texts.map(({ way, text }) => ({ rank: Math.max(rank, WAYS.indexOf(way)), texts: [...texts, text] })),
    )
  }
  return list.sort((a, b) => a.rank - b.rank).map(({ rank, texts }) => ({ way: WAYS[rank] ?? 'closed', texts }))
}

/** A stretch of the old source and what stands in its place. */
export interface PlannedSplice {
  start: number
  end: number
  text: string
}

/** @returns the changes of a candidate in the order of the source */
export function changesOf(plan: Plan, candidate: Candidate): PlannedSplice[] {
  const changes: PlannedSplice[] = []
  plan.sites.forEach((site, i) => {
    if (site.span)
      changes.push({ start: site.span.startOffset, end: site.span.endOffset, text: candidate.texts[i] ?? '' })
  })
  return changes.sort((a, b) => a.start - b.start || a.end - b.end)
}

/** @param changes in order, not overlapping */
export function changedSource(source: string, changes: PlannedSplice[]): string {
  let text = ''
  let at = 0
  for (const change of changes) {
    text += source.slice(at, change.start) + change.text
    at = change.end
  }
  return text + source.slice(at)
}
