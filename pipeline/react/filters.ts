/** The filter that asks for the element of a request (REA-23); the others are answered by what is declared alone. */

import type { Site } from '../site/site.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { askingIn, type Selector, SelectorError, selectingAll, selectorFor } from '../tree/selector/selector.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { Reaction } from './declared/reactions.ts'

/** What a request with a selector is about. */
export interface Addressed {
  /** Canonical path of the document. */
  path: string
  /** What was found for it when it was authorized. */
  elements: readonly ElementNode[]
  /** Its selector. */
  selector: string
  /** It reads every match, not the first alone. */
  all: boolean
}

/**
 * The reactions whose selector selects an element of the request in the stored document as it is now. Those without such a
 * filter are left out.
 */
export async function selecting(
  site: Site,
  { path, elements, selector, all }: Addressed,
  reactions: readonly Reaction[],
): Promise<ReadonlySet<Reaction>> {
  const filtered = reactions.filter(({ selectors }) => selectors !== undefined && selectors.length > 0)
  if (filtered.length === 0 || elements.length === 0) return new Set()
  const file = await site.findParsed(path)
  if (!file?.isDocument) return new Set()
  const tree = site.tree(file)
  const release = pinTree(tree)
  try {
    const stored = elements.filter(element => isIn(element, tree))
    // What a composed page shows is looked for in the document that is stored.
    const targets =
      stored.length > 0
        ? stored
        : await inTurns(finding(selectorFor(selector, site.selectors), tree, all), tree.source.length)
    return await inTurns(choosing(filtered, targets, tree), tree.source.length * filtered.length)
  } finally {
    release()
  }
}

function* choosing(
  reactions: readonly Reaction[],
  targets: readonly ElementNode[],
  tree: TreeDocument,
): Steps<ReadonlySet<Reaction>> {
  const chosen = new Set<Reaction>()
  for (const reaction of reactions) {
    for (const selector of reaction.selectors ?? []) {
      yield
      if (yield* askingAbout(selector, targets, tree)) chosen.add(reaction)
    }
  }
  return chosen
}

function* askingAbout(selector: Selector, targets: readonly ElementNode[], tree: TreeDocument): Steps<boolean> {
  const asking = askingIn(selector, tree)
  try {
    for (const target of targets) if (yield* asking(target)) return true
    return false
  } catch (error) {
    // What takes too long to tell is no match, as a selector that does not parse is none.
    if (error instanceof SelectorError) return false
    throw error
  }
}

function* finding(selector: Selector, tree: TreeDocument, all: boolean): Steps<readonly ElementNode[]> {
  const elements = yield* selectingAll(selector, tree)
  return all ? elements : elements.slice(0, 1)
}

function isIn(element: ElementNode, { root }: TreeDocument): boolean {
  let top: ElementNode = element
  for (;;) {
    const parent = top.parentNode
    if (!parent) return false
    if (parent === root) return true
    if (!('tagName' in parent)) return false
    top = parent
  }
}
