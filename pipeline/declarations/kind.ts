/**
 * What one kind of declarations has to offer. Documents declare things about their site as items: rules and groups, data
 * models. Each kind extracts what a document declares when the document is committed, and compiles it into one snapshot
 * of the whole site that is exchanged document by document.
 */

import type { Vocabulary } from '../model/vocabulary.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import type { Extensions } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'

/** For a built-in item type the types that descend from it by the site's schemas, without itself. */
export type Subtypes = ReadonlyMap<string, ReadonlySet<string>>

/** What documents are read by: the site's names, and the types that its schemas add to those that declare something. */
export interface Derivation extends Vocabulary {
  subtypes?: Subtypes | undefined
}

/** A document that is read. */
export interface DeclaringDocument {
  document: TreeDocument
  /** Its items outside of templates, in tree order. */
  items: readonly ElementNode[]
}

/** All declarations of one kind on a site at one moment, by document. Immutable. */
export interface Snapshot<Raw> {
  /** What a document declares, as it was extracted. */
  document(path: string): Raw | undefined
  /** Paths of declaring documents: the path itself or, for a collection, everything below it. */
  documentsUnder(path: string): string[]
  /** The snapshot with another version of one document; `undefined` when that declares nothing any more. */
  exchanging(path: string, raw: Raw | undefined): Steps<Snapshot<Raw>>
  /** What the author of a document should know about its declarations, for the log. */
  findings(path: string): readonly object[]
}

/**
 * @template Raw what one version of a document declares: plain data that JSON holds, never `null`
 * @template S the declarations of the whole site
 */
export interface DeclarationKind<Raw, S extends Snapshot<Raw>> {
  /** Rises whenever the same markup gives other data: stored documents are read again. */
  readonly form: number
  /** Message under which findings are logged. */
  readonly finding: string
  /** Item types that declare something of this kind. */
  types(vocabulary: Vocabulary): readonly string[]
  /** Whether items of types that descend from these declare as well. */
  readonly withSubtypes: boolean
  /**
   * Extracts what a document declares. Asked only where an item of a declaring type occurs.
   *
   * @returns undefined when it declares nothing
   * @throws TreeError when that breaks a limit
   */
  extracting(source: DeclaringDocument, derivation: Derivation): Steps<Raw | undefined>
  /** Whether two versions of a document have the same effect: otherwise the kind's counter rises. */
  same(a: Raw | undefined, b: Raw | undefined): boolean
  /** Whether two versions of a document are written alike, wherever in the document the items stand. */
  sameAsWritten(a: Raw | undefined, b: Raw | undefined): boolean
  /** Without the entries of lists, which those may write whom the author lets write inside of them (GRP-6). */
  withoutEntries?(raw: Raw): Raw
  /**
   * A site without declarations.
   *
   * @param selectors what selectors of the site may use beside CSS
   */
  empty(vocabulary: Vocabulary, selectors: Extensions): S
}
