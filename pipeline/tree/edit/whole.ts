/** Proof of an edit by parsing the whole new source, within limits of work, and what to do where nothing else proves it. */

import { equalTrees } from '../../tree/compare.ts'
import { parseDocument } from '../../tree/document.ts'
import { TreeError } from '../../tree/limits.ts'
import { type ChildNode, isElement, type ParentNode, type TreeDocument } from '../../tree/nodes.ts'
import { refusing } from './error.ts'
import { type Change, changedSource, type Plan } from './plan.ts'
import { contentOf } from './shape.ts'
import { bodyOf, type Tail, tailOf, withoutTail } from './tail.ts'

/** Code units that may be parsed for one edit beyond the least number of attempts. */
const MAX_WORK = 2_000_000

/** Attempts that even the largest document has. */
const LEAST_ATTEMPTS = 4

/** Attempts to write one edit. */
export interface Attempts {
  document: TreeDocument
  tail: Tail
  left: number
}

export function attemptsFor(document: TreeDocument, tail: Tail): Attempts {
  return { document, tail, left: Math.max(LEAST_ATTEMPTS, Math.floor(MAX_WORK / (document.source.length + 1_000))) }
}

/**
 * Parses the changed source and compares it with the document's tree, which shows what is expected at the moment.
 *
 * @returns the parsed document when it is the expected one
 */
export function parseExpected({ document, tail }: Attempts, source: string): TreeDocument | undefined {
  // A mark at the very beginning would not be part of the text when it is read again.
  if (source.startsWith('\ufeff')) return undefined
  try {
    const parsed = parseDocument(document.kind, source)
    const ending = bodyOf(parsed)?.childNodes ?? []
    const equalWithout = (end: Tail): boolean => withoutTail(ending, end, () => equalTrees(document.root, parsed.root))
    const same = { ...tail, start: source.length - (document.source.length - tail.start) }
    return equalWithout(same) || equalWithout(tailOf(parsed)) ? parsed : undefined
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}

/** A document that came out otherwise than the plan says, for there is no text that gives the planned tree. */
export interface Outcome {
  document: TreeDocument
  nodes: ChildNode[]
  parents: ParentNode[]
}

/**
 * Takes the parsed text for the document.
 *
 * @throws EditError when it breaks a limit or is not well formed
 */
export function parseOutcome(document: TreeDocument, plan: Plan, changes: Change[]): Outcome {
  const source = changedSource(document.source, changes)
  const parsed = refusing(() => parseDocument(document.kind, source))
  const nodes: ChildNode[] = []
  const starts = new Set<number>()
  for (const { host } of plan.sites) {
    const start = host?.sourceCodeLocation?.startOffset
    if (start !== undefined) starts.add(moved(changes, start))
  }
  const written = writtenRanges(changes)
  const parents = new Set<ParentNode>()
  const walk = (children: ChildNode[]): void => {
    for (const node of children) {
      const start = node.sourceCodeLocation?.startOffset
      if (start !== undefined && written.some(([from, to]) => start >= from && start < to)) {
        nodes.push(node)
        if (node.parentNode) parents.add(node.parentNode)
        continue
      }
      if (!isElement(node)) continue
      if (start !== undefined && starts.has(start)) parents.add(contentOf(node))
      walk(node.childNodes)
      if (node.content) walk(node.content.childNodes)
    }
  }
  walk(parsed.root.childNodes)
  return { document: parsed, nodes, parents: [...parents] }
}

function moved(changes: Change[], offset: number): number {
  let distance = 0
  for (const { start, end, text } of changes) if (end <= offset) distance += text.length - (end - start)
  return offset + distance
}

function writtenRanges(changes: Change[]): [number, number][] {
  let distance = 0
  return changes.map(({ start, end, text }) => {
    const from = start + distance
    distance += text.length - (end - start)
    return [from, from + text.length]
  })
}
