/**
 * Versions of transient elements that a visitor's session holds (COMP-73 to COMP-82). They are kept as markup, one for each
 * element, and are inert: a visitor has written them, so nothing in them runs.
 */

import { hash } from 'node:crypto'
import { meaningOf } from '../model/meanings.ts'
import type { Registry } from '../model/registry.ts'
import { parsingFragment } from '../tree/fragment.ts'
import { TreeError } from '../tree/limits.ts'
import {
  attribute,
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  isElement,
  type ParentNode,
} from '../tree/nodes.ts'
import { unprefixedFrom } from '../tree/prefixed-parser.ts'
import { declaredPrefix, namespaceOf, type Prefixes, qualifiedName, writtenName } from '../tree/prefixes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { pageNamespace } from '../tree/template-hosts.ts'
import type { Composing } from './composing.ts'
import type { Page } from './page.ts'
import { awaiting, type Work } from './work.ts'

/** What a visitor's session holds for pages. Every call fails with a Fault when sessions are out of reach. */
export interface VisitorSession {
  readonly id: string
  /** Nobody has seen it before, so it holds nothing. */
  readonly isNew: boolean
  /** Values whose names begin with a text that is not empty. */
  values(prefix: string): Promise<readonly { name: string; value: string }[]>
  /** @param expires unix milliseconds */
  keep(name: string, value: string, expires: number): Promise<boolean>
  take(name: string): Promise<unknown>
}

/** Where the copy of a marked element is kept. */
export interface TransientPlace {
  page: Page
  /** As stored. */
  element: ElementNode
  /** Names of all copies of its document begin with this. */
  prefix: string
  /** Name of its own copy. */
  name: string
}

const DIGITS = 32

/** What names of the copies of one document begin with; a route has copies of its own for each concrete path. */
function copiesPrefix(path: string, concrete: string | undefined): string {
  return `transient/${hash('sha256', concrete === undefined ? path : `${path}\n${concrete}`).slice(0, DIGITS)}/`
}

/** The place of the copy of a marked element: by its id, or else by its number among the marked ones (COMP-80). */
export function transientPlace({ site, params, viewer }: Composing, page: Page, element: ElementNode): TransientPlace {
  const { path } = page.file.resource
  const id = attribute(element, 'id')
  const key = id ? `#${id}` : String(numbersOfMarked(page, site.settings.ns).get(element) ?? -1)
  const prefix = copiesPrefix(path, params.size > 0 ? viewer.path : undefined)
  return { page, element, prefix, name: prefix + hash('sha256', key).slice(0, DIGITS) }
}

const marked = new WeakMap<Page, ReadonlyMap<ElementNode, number>>()

/** The marked elements of a page, each with its number. */
function numbersOfMarked(page: Page, ns: string): ReadonlyMap<ElementNode, number> {
  let found = marked.get(page)
  if (!found) {
    const elements = [...page.busy].filter(element => isMarked(element, ns))
    elements.sort((a, b) => startOf(a) - startOf(b))
    found = new Map(elements.map((element, number) => [element, number]))
    marked.set(page, found)
  }
  return found
}

function startOf(element: ElementNode): number {
  return element.sourceCodeLocation?.startOffset ?? 0
}

function isMarked(element: ElementNode, ns: string): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'transient' && namespaceOf(element, name.prefix) === pageNamespace(ns)
  })
}

/** The copies of one document in the visitor's session, by name; asked for once. */
export function* copiesOf(composing: Composing, prefix: string): Work<ReadonlyMap<string, string>> {
  const { copies, viewer } = composing
  const known = copies.get(prefix)
  if (known) return known
  const { session } = viewer
  const values = session && !session.isNew ? yield* awaiting(session.values(prefix)) : []
  const held = new Map(values.map(({ name, value }) => [name, value]))
  copies.set(prefix, held)
  return held
}

/**
 * How the markup of a copy is to be read: as the document does that stores the element, since pages of both kinds and in other
 * places may show it (COMP-80).
 *
 * @param around what holds the element in the page that shows it
 */
export function readingOf({ page, element }: TransientPlace, around: ElementNode): [DocumentKind, ElementNode] {
  const { kind } = page.tree
  const { parentNode } = element
  // Directives are gone where it is shown.
  if (kind === 'html') return [kind, unprefixedFrom(parentNode) ?? around]
  return [kind, parentNode && isElement(parentNode) ? parentNode : around]
}

/** The nodes of a copy, without whatever could be a directive; none where it cannot be read. */
export function* readingCopy(
  composing: Composing,
  markup: string,
  [kind, context]: [DocumentKind, ElementNode],
  prefixes: Prefixes,
): Work<ChildNode[]> {
  try {
    return yield* inert(composing.model, yield* parsingFragment(kind, markup, context), prefixes)
  } catch (error) {
    if (error instanceof TreeError) return []
    throw error
  }
}

/**
 * Takes everything away that is, or could become, a directive: declarations of prefixes, attributes and elements with a
 * prefix that means something at the place. In steps: a visitor may send more than is kept.
 */
export function* inert(model: Registry, nodes: readonly ChildNode[], prefixes: Prefixes): Steps<ChildNode[]> {
  const means = (name: string): boolean => {
    const qualified = name.includes(':') ? qualifiedName(name) : undefined
    const uri = qualified && prefixes.namespace(qualified.prefix)
    return uri !== undefined && meaningOf(uri, model) !== 'foreign'
  }
  const cleaned = (list: readonly ChildNode[]): ChildNode[] =>
    list.filter(node => !isElement(node) || !means(node.tagName))
  const top = cleaned(nodes)
  const open: ChildNode[] = [...top]
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) continue
    node.attrs = node.attrs.filter(a => declaredPrefix(a) === undefined && !means(writtenName(a)))
    for (const parent of [node, ...(node.content ? [node.content] : [])] as ParentNode[]) {
      parent.childNodes = cleaned(parent.childNodes)
      for (const child of parent.childNodes) open.push(child)
    }
  }
  return top
}
