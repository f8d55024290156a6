/** A few additions to a large document, made one by one as edits that are proved where they are made. */

import { EditError, editing } from '../tree/edit/edit.ts'
import { markupIn } from '../tree/edit/markup.ts'
import { type AnyNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'
import { copyingWithEntries } from './entries.ts'
import { hostOf } from './place.ts'
import type { Revised, Revision } from './revise.ts'

/** More additions than this are made all at once. */
const FEW = 16

/** Nodes that are followed: of more, all are found in one pass through the document made anew. */
const MOST_TRACKED = 32

/** Documents below this size are read again in less time than it takes to be clever, UTF-16 code units. */
const SMALL = 32 * 1024

/**
 * @param document stays as it is
 * @returns undefined when the revisions are others than a few additions, or one cannot be proved where it is made
 */
export function* addingInPlace(
  document: TreeDocument,
  revisions: readonly Revision[],
  tracked: readonly AnyNode[],
): Steps<Revised | undefined> {
  if (!document.clean || revisions.length > FEW || document.source.length < SMALL) return undefined
  // The way to each goes through its siblings, in one turn.
  if (tracked.length > MOST_TRACKED) return undefined
  const additions = revisions.flatMap(revision => (revision.op === 'append' ? [revision] : []))
  if (additions.length !== revisions.length) return undefined
  // An addition comes behind all other children, so that the ways to them stay as they are.
  const ways = new Map<AnyNode, readonly Step[]>()
  for (const node of [...tracked, ...additions.map(({ to }) => to)]) {
    const way = wayTo(document, node)
    if (way) ways.set(node, way)
  }
  const find = (node: AnyNode): AnyNode | undefined => {
    const way = ways.get(node)
    return way && follow(copy.root, way)
  }
  let copy = yield* copyingWithEntries(document)
  for (const { to, node } of additions) {
    const anchor = find(to)
    if (!anchor || !('tagName' in anchor)) return undefined
    const added = yield* adding(copy, anchor, node)
    if (!added) return undefined
    copy = added
  }
  return { document: copy, find }
}

function* adding(document: TreeDocument, anchor: ElementNode, node: ElementNode): Steps<TreeDocument | undefined> {
  const text = markupIn(document.kind, anchor, [node])
  try {
    const proposal = yield* editing(document, { op: 'insert', anchor, placement: 'append', text })
    return proposal.way === 'document' || proposal.way === 'reparsed' ? undefined : yield* proposal.accepting()
  } catch (error) {
    if (error instanceof EditError) return undefined
    throw error
  }
}

/** Place among the element children, or the contents of a template. */
type Step = number | 'content'

/** @returns undefined for nodes other than elements, the document and contents of templates */
function wayTo(document: TreeDocument, node: AnyNode): Step[] | undefined {
  const way: Step[] = []
  let at: AnyNode = node
  while (isElement(at)) {
    const parent: ParentNode | null = at.parentNode
    if (!parent) return undefined
    way.push(parent.childNodes.filter(isElement).indexOf(at))
    at = parent
  }
  if (at.nodeName === '#document-fragment' && 'childNodes' in at) {
    const host = hostOf(document.root, at)
    const outer = host && wayTo(document, host)
    return outer && [...outer, 'content', ...way.reverse()]
  }
  return at === document.root ? way.reverse() : undefined
}

function follow(root: ParentNode, way: readonly Step[]): ParentNode | undefined {
  let at: ParentNode | undefined = root
  for (const step of way) {
    if (!at) return undefined
    if (step === 'content') at = isElement(at) ? at.content : undefined
    else at = at.childNodes.filter(isElement)[step]
  }
  return at
}
