/** Pages that are put together for a request (the passes 4 to 7 of COMP-16). */

import { canonicalPath } from '../http/path.ts'
import { AllowanceSpent } from '../language/allowance.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { HeapError } from '../tree/heap.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { untilFirst } from '../tree/precedence.ts'
import { Prefixes } from '../tree/prefixes.ts'
import type { Composing, FailedPart, Paginator } from './composing.ts'
import { asFault, failureOfPart } from './failure.ts'
import { SiteGraph } from './graph.ts'
import { fittingHtml } from './html-in-xml.ts'
import type { Languages } from './languages.ts'
import { Names } from './names.ts'
import type { Page } from './page.ts'
import { PageRequest } from './page-request.ts'
import { type PaginatorLinks, paginating } from './paginate.ts'
import { apart } from './parts.ts'
import { resolvingReads } from './read-resolvers.ts'
import { Reads } from './reads.ts'
import { requestDocument } from './request-document.ts'
import { currentRoutes, type Found } from './routes.ts'
import type { TransientPlace } from './session-copies.ts'
import type { Viewer } from './viewer.ts'
import { walking } from './walk.ts'
import { doing, type Work } from './work.ts'

/** A page as it was put together for one reader. */
export interface Composition {
  tree: TreeDocument
  reads: Reads
  /** What the `Link` field says (COMP-66). */
  links: readonly PaginatorLinks[]
  /** Parts that could not be put together, in the order of their failures; whoever may read one of them gets its fault. */
  failures: readonly FailedPart[]
  /** Lists that were divided without a look at each other, for a reader who may not see all of the page. */
  paginators: readonly Paginator[]
  /** Children of lists of which a page is shown, on all pages (HTTP-59). */
  undivided: ReadonlyMap<ElementNode, readonly ChildNode[]>
  /** Where an element is stored; undefined for a generated one. */
  originOf(element: ElementNode): { file: StoredFile; tree: TreeDocument; element: ElementNode } | undefined
  /** The outermost marked element around an element, or itself (COMP-74). */
  transientAround(element: ElementNode): ElementNode | undefined
  /** Elements that each visitor has a version of, with the places of the copies. */
  transients: ReadonlyMap<ElementNode, TransientPlace>
  /** What the visitor's session holds of the documents in the page, by the prefix of their names. */
  copies: ReadonlyMap<string, ReadonlyMap<string, string>>
}

export interface ComposeOptions {
  /** The page is to be stored: it keeps its declarations, and nothing of it is divided into pages (COMP-107). */
  creating?: boolean
  /** Failures of parts are kept, for a reader who may not see all of the page (SEC-6). */
  containing?: boolean
  /** When it was found that the document serves the path; just now when missing. */
  found?: Found | undefined
}

/** Compositions that are begun anew because something that they have read was changed meanwhile. */
const ATTEMPTS = 3

/**
 * Composes a document that is in memory.
 *
 * @param params what the path of a route has captured; undefined for what is stored at the path itself
 * @throws Fault by COMP-131; no part of a page is ever given
 */
export async function compose(
  site: Site,
  file: StoredFile,
  viewer: Viewer,
  languages: Languages,
  params?: ReadonlyMap<string, string>,
  options: ComposeOptions = {},
): Promise<Composition> {
  const found = options.found ?? { changes: site.changes, routes: params && currentRoutes(site) }
  await viewer.identify?.()
  for (let tries = 1; ; tries++) {
    const reads = new Reads(site)
    reads.served(canonicalPath(viewer.path), file.resource.path, found, currentRoutes)
    const graph = new SiteGraph(site, reads, () => requestDocument(viewer, site.settings.ns))
    try {
      const composition = await doing(
        composing(site, file, viewer, languages, params ?? new Map(), graph, reads, options),
      )
      await graph.followShown()
      // What was read over several turns is of one state only if nothing has changed (COMP-4).
      if (tries >= ATTEMPTS || reads.hold(site)) return composition
      continue
    } catch (error) {
      if (!mayBeginAnew(error, viewer)) throw asFault(error)
    } finally {
      graph.release()
    }
    // It holds nothing any more, and is begun anew when those are done that came first.
    await untilFirst()
  }
}

/**
 * Whether work was broken off for those that came first, and may be begun anew when they are done (HTTP-183).
 *
 * @throws Fault where they have taken all its time
 */
export function mayBeginAnew(error: unknown, { allowance }: Pick<Viewer, 'allowance'>): boolean {
  if (!(error instanceof HeapError && error.reason === 'outrun')) return false
  if (allowance.timeLeft === 0) throw asFault(new AllowanceSpent('time'))
  return true
}

function* composing(
  site: Site,
  file: StoredFile,
  viewer: Viewer,
  languages: Languages,
  params: ReadonlyMap<string, string>,
  graph: SiteGraph,
  reads: Reads,
  { creating = false, containing = false }: ComposeOptions,
): Work<Composition> {
  const page = yield* graph.reading(file)
  const { kind, root } = page.tree
  const state: Composing = {
    site,
    model: site.model,
    viewer,
    allowance: containing ? viewer.allowance.part() : viewer.allowance,
    languages,
    graph,
    reads,
    request: new PageRequest(viewer, params, reads),
    page,
    kind,
    meanings: new Map(),
    origins: new Map(),
    wholes: new Map(),
    transients: new Map(),
    copies: new Map(),
    params,
    failures: containing ? [] : undefined,
    creating,
    paginators: [],
  }
  const composed: TreeDocument['root'] = { nodeName: '#document', childNodes: [] }
  if (root.mode !== undefined) composed.mode = root.mode
  yield* walking(state, root.childNodes, composed, {
    names: new Names(),
    prefixes: Prefixes.none,
    page,
    text: page.search.source,
    output: false,
    holder: page,
    loose: false,
    inPlace: true,
    transient: false,
    depth: 0,
  })
  // What the code of the page has really read decides, not what its text could read.
  if (viewer.allowance.hasReadFleeting) reads.fleeting = true
  const tree: TreeDocument = { kind, source: page.search.source, root: composed, clean: false }
  const links = creating ? [] : yield* dividing(state, tree)
  if (!creating) yield* resolvingReads(state, tree)
  if (kind === 'xml') yield* fittingHtml(state, composed)
  const latest: Latest = new WeakMap()
  return {
    tree,
    reads,
    links,
    failures: state.failures ?? [],
    paginators: containing ? state.paginators : [],
    undivided: new Map(state.paginators.flatMap(({ element, undivided }) => (undivided ? [[element, undivided]] : []))),
    originOf: element => originOf(state, element, latest),
    transientAround: element => transientAround(state, element),
    transients: state.transients,
    copies: state.copies,
  }
}

/** Pass 6 of COMP-16 for lists. */
function* dividing(composing: Composing, tree: TreeDocument): Work<readonly PaginatorLinks[]> {
  const { paginators, viewer, failures } = composing
  try {
    return yield* apart(composing, ({ allowance }) =>
      paginating(tree, paginators, allowance, viewer.path, viewer.query, failures !== undefined),
    )
  } catch (error) {
    const fault = failures && failureOfPart(error, true)
    if (!fault) throw error
    for (const { element } of paginators) failures.push({ element, fault })
    return []
  }
}

function transientAround({ transients }: Composing, element: ElementNode): ElementNode | undefined {
  if (transients.size === 0) return undefined
  let found: ElementNode | undefined
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode)
    if (transients.has(node)) found = node
  return found
}

/** Where the child stands that was asked about last: elements are asked about in tree order, one behind the other. */
type Latest = WeakMap<ElementNode, number>

function indexIn(parent: ElementNode, child: ElementNode, latest: Latest): number {
  const behind = parent.childNodes.indexOf(child, latest.get(parent))
  const index = behind === -1 ? parent.childNodes.indexOf(child) : behind
  latest.set(parent, index)
  return index
}

/** Subtrees without directives were copied as a whole: the same way leads from their top to an element. */
function originOf(
  { origins, wholes }: Composing,
  element: ElementNode,
  latest: Latest,
): ReturnType<Composition['originOf']> {
  const own = origins.get(element)
  if (own) return placeOf(own.page, own.element)
  const way: number[] = []
  for (let copy = element; ; ) {
    const origin = wholes.get(copy)
    if (origin) return placeOf(origin.page, descend(origin.element, way.reverse()))
    const parent = copy.parentNode
    if (!parent || !isElement(parent) || origins.has(parent)) return undefined
    way.push(indexIn(parent, copy, latest))
    copy = parent
  }
}

function descend(top: ElementNode, way: readonly number[]): ElementNode | undefined {
  let found = top
  for (const index of way) {
    const child = found.childNodes[index]
    if (!child || !isElement(child)) return undefined
    found = child
  }
  return found
}

function placeOf({ file, tree }: Page, element: ElementNode | undefined): ReturnType<Composition['originOf']> {
  return element && { file, tree, element }
}
