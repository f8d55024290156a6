/**
 * A stored document as composition reads it: prefixed elements stand where they were written (COMP-6), and what is the
 * source of a template is text (COMP-8). Which prefixes are bound is written in the document, so that this belongs to its
 * version alone.
 */

import { type TemplateHost, withoutSources } from '../language/liquid/hosts.ts'
import { bringsProgram, findingPrograms, findingTemplates } from '../language/liquid/programs.ts'
import type { Source } from '../language/values.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { ProposedEdit } from '../tree/edit/edit.ts'
import { parsingHtml } from '../tree/html.ts'
import {
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../tree/nodes.ts'
import { findingPrefixed, parsingPrefixed } from '../tree/prefixed-parser.ts'
import { declaredPrefix, qualifiedName, writtenName } from '../tree/prefixes.ts'
import { knownReading, readingComposed } from '../tree/readings.ts'
import type { Steps } from '../tree/steps.ts'
import { treeBytes } from '../tree/weight.ts'
import { parsingXml } from '../tree/xml.ts'
import type { Work } from './work.ts'

export interface Page {
  readonly file: StoredFile
  /** The document as values name it. */
  readonly source: Source
  /** Stored markup, in which selectors are matched. */
  readonly search: TreeDocument
  /** What is composed: the same, with the sources of templates left out. */
  readonly tree: TreeDocument
  /** Elements of `tree` with a directive on or below them; everything else is copied as it is. */
  readonly busy: ReadonlySet<ElementNode>
  /** The source of a template: what stands between the tags of its host. */
  templateSource(host: ElementNode): { source: string; line: number }
  /** All its templates: no visitor writes into their sources. */
  readonly templates: readonly Template[]
  /** The element of `tree` that stands in the text where one of `search` does. */
  counterpart(element: ElementNode): ElementNode | undefined
}

type Extent = Pick<TemplateHost, 'start' | 'end'>

/** What stands between the tags of a host, and where. */
export type Template = Extent & Pick<TemplateHost, 'source' | 'isBroken'>

/** By the plain trees, with which they go. */
const pages = new WeakMap<TreeDocument, ReadPage>()

const NOTHING: ReadonlySet<ElementNode> = new Set()

/**
 * Reads a document for composition.
 *
 * @param plain the parsed document; it has to be pinned as long as the page is used
 * @param ns base URI of the site's vocabulary
 */
export function* readingPage(file: StoredFile, plain: TreeDocument, ns: string): Work<Page> {
  const known = pages.get(plain)
  // An edit changes a tree in place and hands it on to the next version.
  if (known?.file === file) return known
  const { source, kind } = plain
  if (file.profile?.namespaces.length === 0) {
    const page = new ReadPage(file, plain, plain, [], NOTHING)
    pages.set(plain, page)
    return page
  }
  const search = yield* readingComposed(plain)
  const hosts = yield* findingTemplates({ kind, source }, ns, search.root)
  const tree = hosts.length === 0 ? search : yield* parsingWithout(source, kind, hosts)
  const page = new ReadPage(file, search, tree, hosts)
  pages.set(plain, page)
  const isKept = search === plain || search === knownReading(plain)
  file.pageBytes = (isKept ? 0 : treeBytes(search)) + (tree === search ? 0 : treeBytes(tree))
  return page
}

/**
 * Reads a text as composition does.
 *
 * @returns what is composed, and where templates are
 * @throws TreeError for a limit
 */
export function* readingMarkup(
  source: string,
  kind: DocumentKind,
  ns: string,
): Steps<{ tree: TreeDocument; hosts: TemplateHost[] }> {
  const hosts = yield* findingTemplates({ kind, source }, ns)
  return { tree: yield* parsingWithout(source, kind, hosts), hosts }
}

/** The tree of a document in which the sources of its templates are blank, in steps; offsets are those of its text. @throws TreeError for a limit */
export function* parsingWithout(source: string, kind: DocumentKind, hosts: readonly Extent[]): Steps<TreeDocument> {
  const text = withoutSources(source, hosts)
  const isPrefixed = kind === 'html' && (yield* findingPrefixed(source))
  const parsing = kind === 'xml' ? parsingXml : isPrefixed ? parsingPrefixed : parsingHtml
  return { kind, source: text, root: yield* parsing(text), clean: false }
}

/**
 * The templates of a document as it is without an edit, in steps.
 *
 * @param plain its tree, which may show the edit already
 * @param before its text
 */
export function* findingTemplatesOf(
  ns: string,
  { file, tree: plain }: { file: StoredFile; tree: TreeDocument },
  before: string,
): Steps<readonly Template[]> {
  const known = pages.get(plain)
  if (known?.file === file) return known.templates
  return yield* findingTemplates({ kind: plain.kind, source: before }, ns)
}

/**
 * Whether an edit changes the source of a template, in steps; what it only removes may go, unless the programs are others then.
 *
 * @param templates of the document without it
 * @param before text of that
 */
export function* changesTemplate(
  ns: string,
  kind: DocumentKind,
  templates: readonly Template[],
  before: string,
  { changes, source: after }: Pick<ProposedEdit, 'changes' | 'source'>,
): Steps<boolean> {
  if (!templates.some(host => changes.some(change => isWithin(before, change, host)))) return false
  if (changes.some(({ text }) => text !== '')) return true
  const programs = yield* findingPrograms({ kind, source: before }, ns)
  const left = yield* findingPrograms({ kind, source: after }, ns)
  return bringsProgram(programs, left) || bringsProgram(left, programs)
}

/** What is written at the end of a host without end tag, or content, stands behind it. */
function isWithin(source: string, change: Extent, { start, end }: Extent): boolean {
  if (change.start < start) return change.end > start
  return change.start < end || (change.start === end && source.startsWith('</', end))
}

class ReadPage implements Page {
  readonly file: StoredFile
  readonly source: Source
  readonly search: TreeDocument
  readonly tree: TreeDocument
  readonly templates: readonly Template[]
  readonly #sources: ReadonlyMap<number, { source: string; line: number }>
  #busy: ReadonlySet<ElementNode> | undefined
  #places: Map<number, ElementNode> | undefined

  constructor(
    file: StoredFile,
    search: TreeDocument,
    tree: TreeDocument,
    hosts: readonly TemplateHost[],
    busy?: ReadonlySet<ElementNode>,
  ) {
    this.file = file
    this.source = { path: file.resource.path, document: search }
    this.search = search
    this.tree = tree
    this.templates = hosts.map(({ start, end, source, isBroken = false }) => ({ start, end, source, isBroken }))
    this.#sources = new Map(hosts.map(({ start, source, line }) => [start, { source, line }]))
    this.#busy = busy
  }

  get busy(): ReadonlySet<ElementNode> {
    return (this.#busy ??= busyElements(this.tree))
  }

  templateSource({ sourceCodeLocation: place }: ElementNode): { source: string; line: number } {
    if (!place?.startTag) return { source: '', line: 1 }
    const start = place.startTag.endOffset
    const end = place.endTag?.startOffset ?? place.endOffset
    return this.#sources.get(start) ?? { source: this.search.source.slice(start, end), line: 1 }
  }

  counterpart(element: ElementNode): ElementNode | undefined {
    if (this.search === this.tree) return element
    this.#places ??= elementsByPlace(this.tree)
    const start = element.sourceCodeLocation?.startOffset
    const other = start === undefined ? undefined : this.#places.get(start)
    return other?.tagName === element.tagName ? other : undefined
  }
}

/** Elements in and above which a prefix is used or declared. */
function busyElements({ root }: TreeDocument): Set<ElementNode> {
  const busy = new Set<ElementNode>()
  for (const element of elementsOf(root)) {
    if (!hasPrefix(element)) continue
    for (let node: ParentNode | null = element; node && isElement(node) && !busy.has(node); node = node.parentNode)
      busy.add(node)
  }
  return busy
}

function hasPrefix(element: ElementNode): boolean {
  return (
    qualifiedName(element.tagName) !== undefined ||
    element.attrs.some(a => declaredPrefix(a) !== undefined || qualifiedName(writtenName(a)) !== undefined)
  )
}

function elementsByPlace({ root }: TreeDocument): Map<number, ElementNode> {
  const places = new Map<number, ElementNode>()
  for (const element of elementsOf(root)) {
    const start = element.sourceCodeLocation?.startOffset
    if (start !== undefined && !places.has(start)) places.set(start, element)
  }
  return places
}

/** Elements in document order; contents of templates are none of them. */
function* elementsOf(root: ParentNode): Generator<ElementNode> {
  const open: { nodes: readonly ChildNode[]; next: number }[] = [{ nodes: root.childNodes, next: 0 }]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    yield node
    if (node.childNodes.length > 0) open.push({ nodes: node.childNodes, next: 0 })
  }
}
