/**
 * The smallest stretch of source around a change that can be judged by itself: from the element before to the tag
 * behind. It begins and ends between tokens, and everything in it belongs to one parent.
 */

import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { contentOf, isHtmlElement, openElements } from './shape.ts'
import type { Tail } from './tail.ts'

/** The token behind a region. */
export type Next = { kind: 'start' | 'end'; element: ElementNode } | { kind: 'eof' }

export interface Region {
  /** Whose children it holds: `host`, or the contents of the template `host`. */
  parent: ParentNode
  host: ElementNode
  /** From the document element to `host`. */
  ancestors: ElementNode[]
  /** The children in it: text, comments and the element that goes. */
  from: number
  to: number
  /** Offsets in the source. */
  start: number
  end: number
  /** Elements before it that its first token closes, outermost first. */
  open: ElementNode[]
  next: Next
}

/** The document element first, the element itself last; undefined inside the contents of a template. */
function lineage(element: ElementNode): ElementNode[] | undefined {
  const line: ElementNode[] = []
  let node: ParentNode | null = element
  while (node && isElement(node)) {
    line.push(node)
    node = node.parentNode
  }
  return node?.nodeName === '#document' ? line.reverse() : undefined
}

/**
 * @param host element whose children (or template contents) change
 * @param first first child that is part of the change, or before which something is put
 * @param behind first child behind the change
 * @returns undefined where no such stretch can be told
 */
export function regionAround(
  document: TreeDocument,
  tail: Tail,
  host: ElementNode,
  first: number,
  behind: number,
): Region | undefined {
  const ancestors = lineage(host)
  if (!ancestors) return undefined
  const parent = contentOf(host)
  const nodes = parent.childNodes
  let from = first
  while (from > 0 && !isElement(nodes[from - 1] as ChildNode)) from--
  let to = behind
  while (to < nodes.length && !isElement(nodes[to] as ChildNode)) to++

  const next = nextToken(document, ancestors, nodes[to])
  const end = next && offsetOf(document, next)
  if (!next || end === undefined) return undefined
  // The parser has no true end for a template that the source leaves open.
  if (next.kind === 'eof' && host.content) return undefined
  const previous = nodes[from - 1]
  const open = previous && isElement(previous) ? openElements(document, previous) : []
  // What an open template holds, and where it would end, is another question.
  if (open.some(element => element.content)) return undefined
  const start = startOf(host, previous, from === to ? end : undefined)
  if (start === undefined || start > end) return undefined
  // At the end of the source the open elements may hold half a comment or tag.
  if (open.length > 0 && (start > tail.start || start === document.source.length)) return undefined
  return { parent, host, ancestors, from, to, start, end, open, next }
}

function startOf(host: ElementNode, previous: ChildNode | undefined, end: number | undefined): number | undefined {
  if (previous) return previous.sourceCodeLocation ? previous.sourceCodeLocation.endOffset : end
  return host.sourceCodeLocation?.startTag?.endOffset
}

function offsetOf(document: TreeDocument, next: Next): number | undefined {
  if (next.kind === 'eof') return document.source.length
  const place = next.element.sourceCodeLocation
  return next.kind === 'start' ? place?.startOffset : place?.endTag?.startOffset
}

/** @param sibling the element behind the region, if there is one */
function nextToken(document: TreeDocument, ancestors: ElementNode[], sibling: ChildNode | undefined): Next | undefined {
  if (sibling) return startOfElement(sibling)
  for (const host of ancestors.toReversed()) {
    const behind = nodesBehind(host)
    if (document.kind === 'html' && (isHtmlElement(host, 'body') || isHtmlElement(host, 'html'))) {
      // White space behind `</body>` still belongs to the body, or to what is open in it; comments do not.
      if (behind.some(node => node.nodeName !== '#comment')) return undefined
      continue
    }
    if (host.sourceCodeLocation?.endTag) return { kind: 'end', element: host }
    if (behind[0]) return startOfElement(behind[0])
  }
  return { kind: 'eof' }
}

/** Text and comments do not close what is open before them. */
function startOfElement(node: ChildNode): Next | undefined {
  return isElement(node) ? { kind: 'start', element: node } : undefined
}

/** The siblings behind an element. */
export function nodesBehind(element: ElementNode): ChildNode[] {
  const siblings = element.parentNode?.childNodes ?? []
  return siblings.slice(siblings.indexOf(element) + 1)
}
