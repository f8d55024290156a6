/** A page that is being put together: what all directives of one request share. */

import type { Fault } from '../fault.ts'
import type { Allowance } from '../language/allowance.ts'
import type { Value } from '../language/values.ts'
import { type Meaning, meaningOf } from '../model/meanings.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { ChildNode, DocumentKind, ElementNode } from '../tree/nodes.ts'
import type { Prefixes } from '../tree/prefixes.ts'
import type { SiteGraph } from './graph.ts'
import type { Languages } from './languages.ts'
import type { Names } from './names.ts'
import type { Page } from './page.ts'
import type { PageRequest } from './page-request.ts'
import type { Reads } from './reads.ts'
import type { TransientPlace } from './session-copies.ts'
import type { Viewer } from './viewer.ts'

/** Where an element of a composed page is stored. */
export interface Origin {
  page: Page
  element: ElementNode
}

/** An element whose children are divided into pages (COMP-63). */
export interface Paginator {
  element: ElementNode
  /** As written. */
  length: string
  /** Its children on all pages, once those of others are removed. */
  undivided?: readonly ChildNode[]
}

/** A part of a page that could not be put together, for a reader who may not see all of it. */
export interface FailedPart {
  /** What stands there instead, or the element whose attribute has failed. */
  element: ElementNode
  fault: Fault
}

export interface Composing {
  readonly site: Site
  /** Schemas as they stand for the whole composition. */
  readonly model: Registry
  readonly viewer: Viewer
  readonly allowance: Allowance
  readonly languages: Languages
  readonly graph: SiteGraph
  readonly reads: Reads
  readonly request: PageRequest
  /** The requested document, or the template of a route. */
  readonly page: Page
  readonly kind: DocumentKind
  readonly meanings: Map<string, Meaning>
  /** Of elements that were copied one by one. */
  readonly origins: Map<ElementNode, Origin>
  /** Of the topmost elements of subtrees that were copied as a whole. */
  readonly wholes: Map<ElementNode, Origin>
  readonly paginators: Paginator[]
  /** Elements of the page that each visitor has a version of. */
  readonly transients: Map<ElementNode, TransientPlace>
  /** What the visitor's session holds of documents, by the prefix of their names. */
  readonly copies: Map<string, ReadonlyMap<string, string>>
  /** Where failures of parts go, so that the rest is put together (SEC-6); without it the first one ends the page. */
  readonly failures: FailedPart[] | undefined
  /** The page is to be stored (COMP-107). */
  readonly creating: boolean
  /** What the path of a route has captured. */
  readonly params: ReadonlyMap<string, string>
}

/** What surrounds nodes that are walked. */
export interface Surroundings {
  names: Names
  /** Prefixes in scope, those of the nodes' own document (COMP-12). */
  prefixes: Prefixes
  /** The document that the nodes are stored in; undefined for generated ones. */
  page: Page | undefined
  /** The text that their offsets count in. */
  text: string | undefined
  /** They are part of a template's output (COMP-48). */
  output: boolean
  /** The document in which they were written, if only as a template that has made them: relative paths count from there. */
  holder: Page
  /** They are copies from a document that only code has read, as that of a method in JavaScript: it may be one of XML. */
  isElsewhere?: boolean
  /** Not in the page's own tree, so that nothing is known about directives below. */
  loose: boolean
  /** They stand where the requested document has them: nothing has put them there. */
  inPlace: boolean
  /** They are inside of an element that each visitor has a version of: the outermost marker counts (COMP-74). */
  transient: boolean
  /** Elements around. */
  depth: number
  /** Kinds of elements of the page around a part, which its tags would end (COMP-31); none where they stand in place. */
  open?: number
}

/** A directive on its way: the element that asks for it, with what is in scope there. */
export interface Dispatch {
  composing: Composing
  element: ElementNode
  place: Surroundings
}

export function meaning(composing: Composing, uri: string): Meaning {
  let known = composing.meanings.get(uri)
  if (known === undefined) {
    known = meaningOf(uri, composing.model)
    composing.meanings.set(uri, known)
  }
  return known
}

/** Whether names of namespaces that mean nothing are data: in XML documents, and in what comes from one (COMP-120). */
export function isData(
  { kind }: Composing,
  { holder, isElsewhere = false }: Pick<Surroundings, 'holder' | 'isElsewhere'>,
): boolean {
  return isElsewhere || kind === 'xml' || holder.tree.kind === 'xml'
}

/** The value of a name, `request` included. */
export function lookUp({ composing, place }: Dispatch, name: string): Value | undefined {
  return place.names.get(name) ?? (name === 'request' ? composing.request : undefined)
}
