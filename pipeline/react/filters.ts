/** The filter that asks for the element of a request (REA-23); the others are answered by what is declared alone. */

import { Fault } from '../fault.ts'
import type { AddressedElements } from '../operation.ts'
import { isReadAsWritten } from '../read/representation.ts'
import type { Site } from '../site/site.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { askingIn, type Selector, SelectorError } from '../tree/selector/selector.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import type { Reaction } from './declared/reactions.ts'

/**
 * The reactions whose selector selects an element of the request in the stored document as it is now. Those without such a
 * filter are left out. The request's own selector is not asked again: whoever sees a part of a page would learn of the rest
 * by what runs (SEC-6).
 *
 * @param path canonical path of the request
 * @returns undefined where the document has changed since the elements were found in it
 * @throws Fault 503 where it takes too long to tell (HTTP-172), 500 where a selector is none on this document (COMP-139)
 */
export async function selecting(
  site: Site,
  path: string,
  addressed: AddressedElements,
  reactions: readonly Reaction[],
): Promise<ReadonlySet<Reaction> | undefined> {
  const { view, elements } = addressed
  const filtered = reactions.filter(({ selectors }) => selectors !== undefined && selectors.length > 0)
  if (filtered.length === 0 || elements.length === 0 || view.routed) return new Set()
  const file = await site.findParsed(path)
  if (file?.resource.version !== view.file.resource.version) return undefined
  const standard = site.tree(file)
  const release = pinTree(standard)
  try {
    const { source } = standard
    // Elements stand where the rules find them as well.
    const tree = isReadAsWritten(site, file) ? await inTurns(readingAsWritten(standard), source.length) : standard
    const { stored, made } = await inTurns(sorting(addressed, tree), source.length)
    const chosen = await inTurns(choosing(filtered, stored, tree), source.length * filtered.length)
    const others = filtered.filter(reaction => !chosen.has(reaction))
    const length = view.tree.source.length * others.length
    return new Set([...chosen, ...(await inTurns(choosing(others, made, view.tree), length))])
  } finally {
    release()
  }
}

/** Elements of a request, by where they are asked about: in the stored document, or in the page for which they were made. */
interface Sorted {
  stored: readonly ElementNode[]
  made: readonly ElementNode[]
}

/** In steps; what comes from other documents is left out. */
function* sorting({ view, elements, into }: AddressedElements, tree: TreeDocument): Steps<Sorted> {
  if (view.tree === tree) return { stored: elements, made: [] }
  const made: ElementNode[] = []
  const wanted = new Set(into && [tagPlace(into)])
  let seen = 0
  for (const element of elements) {
    if (++seen % NODES_PER_STEP === 0) yield
    const origin = view.originOf(element)
    if (!origin) made.push(element)
    else if (origin.file.resource.path === view.file.resource.path) wanted.add(tagPlace(origin.element))
  }
  const stored = wanted.size === 0 ? [] : yield* finding(tree, wanted)
  return { stored, made }
}

/** Elements of all trees of one text come from the same tags. Those without one, such as a `body`, are told by their name. */
function tagPlace({ tagName, sourceCodeLocation }: ElementNode): string {
  return `${sourceCodeLocation?.startOffset ?? ''} ${tagName}`
}

function* finding({ root }: TreeDocument, places: ReadonlySet<string>): Steps<ElementNode[]> {
  const found: ElementNode[] = []
  const open: ParentNode[] = [root]
  let seen = 0
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const node of parent.childNodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (!isElement(node)) continue
      if (places.has(tagPlace(node))) found.push(node)
      open.push(node)
    }
  }
  return found
}

function* choosing(
  reactions: readonly Reaction[],
  targets: readonly ElementNode[],
  tree: TreeDocument,
): Steps<ReadonlySet<Reaction>> {
  const chosen = new Set<Reaction>()
  if (targets.length === 0) return chosen
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
    if (!(error instanceof SelectorError)) throw error
    // Content must not switch off a trigger that refuses, be it that a function of its selector finds several elements.
    if (error.fault !== 'cost')
      throw new Fault(500, 'BindingFailure', 'Which reactions the request has cannot be told on this document.')
    throw new Fault(503, 'BudgetExceeded', 'Which reactions the request has takes too long to tell on this document.')
  }
}
