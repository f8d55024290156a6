/** The same nodes in two trees of one text, that the standard's parser and composition's have made of it (COMP-6). */

import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** The element of another tree of the same text that comes from the same tag; one without tags is told by its order. */
export function sameElement(from: TreeDocument, element: ElementNode, to: TreeDocument): ElementNode | undefined {
  if (SINGLE.has(element.tagName) && singlesOf(from).get(element.tagName) === element)
    return singlesOf(to).get(element.tagName)
  const start = element.sourceCodeLocation?.startOffset
  if (start === undefined) return sameImplied(from, element, to)
  // A formatting element that is left open stands in the tree once more for each block behind it, with the same place.
  const at = placeAmong(elementsAt(from, start, element.tagName), element)
  return elementAt(to, start, element.tagName, at)
}

/** Of these there is one each, with or without tags: a directive in the head begins the body for the standard, in front of its tag. */
const SINGLE = new Set(['html', 'head', 'body'])

function singlesOf({ root }: Pick<TreeDocument, 'root'>): Map<string, ElementNode> {
  const singles = new Map<string, ElementNode>()
  for (const parent of [root, root.childNodes.find(node => node.nodeName === 'html')])
    for (const node of parent && 'childNodes' in parent ? parent.childNodes : [])
      if (isElement(node) && SINGLE.has(node.tagName) && !singles.has(node.tagName)) singles.set(node.tagName, node)
  return singles
}

function sameImplied(from: TreeDocument, element: ElementNode, to: TreeDocument): ElementNode | undefined {
  const { tagName, parentNode } = element
  if (!parentNode) return undefined
  const parent = isElement(parentNode) ? sameElement(from, parentNode, to) : to.root
  const beside = parent && elementsWithout(parent.childNodes, tagName)
  const found = beside?.[placeAmong(elementsWithout(parentNode.childNodes, tagName), element)]
  if (found) return found
  // A prefixed element may have taken it in.
  const [all, others] = [from, to].map(({ root }) => elementsWithout(nodesOf(root), tagName))
  return all && all.length === others?.length ? others[placeAmong(all, element)] : undefined
}

/** Elements of that name that have no tags. */
function elementsWithout(nodes: Iterable<ChildNode>, tagName: string): ElementNode[] {
  const found: ElementNode[] = []
  for (const node of nodes)
    if (isElement(node) && node.tagName === tagName && !node.sourceCodeLocation) found.push(node)
  return found
}

function placeAmong(all: Iterable<ElementNode>, element: ElementNode): number {
  let place = 0
  for (const each of all) {
    if (each === element) break
    place++
  }
  return place
}

function elementAt(document: TreeDocument, start: number, tagName: string, at: number): ElementNode | undefined {
  let first: ElementNode | undefined
  let passed = 0
  for (const each of elementsAt(document, start, tagName)) {
    if (passed++ === at) return each
    first ??= each
  }
  return first
}

/** In document order, found as they are asked for. */
function* elementsAt({ root }: TreeDocument, start: number, tagName: string): Generator<ElementNode> {
  for (const node of nodesOf(root))
    if (isElement(node) && node.sourceCodeLocation?.startOffset === start && node.tagName === tagName) yield node
}

/** What begins at the same place of the same text, but for elements. */
export function sameLeaf(to: TreeDocument, { nodeName, sourceCodeLocation }: ChildNode): ChildNode | undefined {
  const start = sourceCodeLocation?.startOffset
  if (start === undefined) return undefined
  for (const node of nodesOf(to.root))
    if (node.nodeName === nodeName && node.sourceCodeLocation?.startOffset === start) return node
  return undefined
}

/** All nodes in document order; contents of templates are none of them. */
function* nodesOf(root: ParentNode): Generator<ChildNode> {
  const open: ParentNode[] = [root]
  const places = [0]
  while (open.length > 0) {
    const level = open.length - 1
    const node = open[level]?.childNodes[places[level] ?? 0]
    places[level] = (places[level] ?? 0) + 1
    if (!node) {
      open.pop()
      places.pop()
      continue
    }
    yield node
    if (!isElement(node)) continue
    open.push(node)
    places.push(0)
  }
}

/** So few nodes are looked for one by one: more would take a walk through the page each. */
const FEW = 4

/** What `sameElement` and `sameLeaf` find for nodes of a document, however many, in steps; what is not there is left out. */
export function* findingSame(from: TreeDocument, nodes: readonly ChildNode[], to: TreeDocument): Steps<ChildNode[]> {
  return (yield* findingEach(from, nodes, to)).flatMap(node => node ?? [])
}

/** The same with undefined for what is not there, and for what was not there before. */
export function* findingEach(
  from: TreeDocument,
  nodes: readonly (ChildNode | undefined)[],
  to: TreeDocument,
): Steps<(ChildNode | undefined)[]> {
  if (nodes.length <= FEW)
    return nodes.map(node => node && (isElement(node) ? sameElement(from, node, to) : sameLeaf(to, node)))
  const starts = startsOf(nodes.flatMap(node => node ?? []))
  const [before, after] = [yield* indexing(from, starts), yield* indexing(to, starts)]
  const found: (ChildNode | undefined)[] = []
  for (const [i, node] of nodes.entries()) {
    if (i % NODES_PER_STEP === 0) yield
    found.push(node && sameIn(before, node, after))
  }
  return found
}

/** Where nodes begin; of those without tags, where what is around them does. */
function startsOf(nodes: readonly ChildNode[]): Set<number> {
  const starts = new Set<number>()
  const seen = new Set<AnyNode>()
  for (const node of nodes)
    for (let at: AnyNode | null = node; at && !seen.has(at); at = isElement(at) ? at.parentNode : null) {
      seen.add(at)
      if (!('sourceCodeLocation' in at) || !at.sourceCodeLocation) continue
      starts.add(at.sourceCodeLocation.startOffset)
      break
    }
  return starts
}

/** Where nodes of a document are found. */
interface Index {
  root: ParentNode
  singles: Map<string, ElementNode>
  /** By name and place in the text, in document order. */
  placed: Map<string, ChildNode[]>
  /** Elements without tags by parent and name, and all by name. */
  implied: Map<ParentNode, Map<string, ElementNode[]>>
  all: Map<string, ElementNode[]>
  /** Place of an element in its list of `placed` or `implied`, and in that of `all`. */
  places: Map<ChildNode, number>
  placesOfAll: Map<ElementNode, number>
}

function* indexing({ root }: TreeDocument, starts: ReadonlySet<number>): Steps<Index> {
  const placed: Index['placed'] = new Map()
  const implied: Index['implied'] = new Map()
  const all: Index['all'] = new Map()
  const places: Index['places'] = new Map()
  const placesOfAll: Index['placesOfAll'] = new Map()
  let seen = 0
  for (const node of nodesOf(root)) {
    if (++seen % NODES_PER_STEP === 0) yield
    const start = node.sourceCodeLocation?.startOffset
    if (start !== undefined) {
      if (starts.has(start)) places.set(node, addTo(placed, `${node.nodeName} ${start}`, node))
    } else if (isElement(node) && node.parentNode) {
      const siblings = implied.get(node.parentNode) ?? new Map<string, ElementNode[]>()
      implied.set(node.parentNode, siblings)
      places.set(node, addTo(siblings, node.tagName, node))
      placesOfAll.set(node, addTo(all, node.tagName, node))
    }
  }
  return { root, singles: singlesOf({ root }), placed, implied, all, places, placesOfAll }
}

/** @returns place of the node in its list */
function addTo<T>(lists: Map<string, T[]>, key: string, node: T): number {
  const list = lists.get(key)
  if (list) return list.push(node) - 1
  lists.set(key, [node])
  return 0
}

function sameIn(from: Index, node: ChildNode, to: Index): ChildNode | undefined {
  if (isElement(node) && from.singles.get(node.tagName) === node) return to.singles.get(node.tagName)
  const start = node.sourceCodeLocation?.startOffset
  if (start !== undefined) {
    const found = to.placed.get(`${node.nodeName} ${start}`)
    return (isElement(node) ? found?.[from.places.get(node) ?? 0] : undefined) ?? found?.[0]
  }
  if (!isElement(node) || !node.parentNode) return undefined
  const { tagName, parentNode } = node
  const parent = isElement(parentNode) ? sameIn(from, parentNode, to) : to.root
  const beside = parent && 'childNodes' in parent ? to.implied.get(parent)?.get(tagName) : undefined
  const found = beside?.[from.places.get(node) ?? 0]
  if (found) return found
  const [all, others] = [from.all.get(tagName), to.all.get(tagName)]
  return all?.length === others?.length ? others?.[from.placesOfAll.get(node) ?? 0] : undefined
}
