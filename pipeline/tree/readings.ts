/**
 * The two ways in which the text of a stored page is read: by the standard alone, and with prefixed elements where they are
 * written (COMP-6), which end where composition ends them. Of most pages both are one tree.
 */

import { comparing } from './compare.ts'
import { parsingDocument } from './document.ts'
import { parsingFragment } from './fragment.ts'
import { TreeError } from './limits.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from './nodes.ts'
import {
  boundIn,
  findingPrefixed,
  parsingPrefixed,
  parsingPrefixedFragment,
  unprefixedFrom,
} from './prefixed-parser.ts'
import { stateOf } from './revisions.ts'
import { findingSame } from './same-nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/**
 * The tree of a document in which prefixed elements stand where they are written, in steps. It is for looking at alone.
 *
 * @param document as the standard reads it; nobody may change it before the last step
 * @returns the document itself where that is the same tree, and where composition could not read it
 */
export function* readingAsWritten(document: TreeDocument): Steps<TreeDocument> {
  const state = stateOf(document)
  const { revision, asWritten: known } = state
  if (known === 'same' || document.kind === 'xml') return document
  if (known?.revision === revision) return known.tree ?? document
  const isPlain = !(yield* findingPrefixed(document.source))
  const read = isPlain ? undefined : yield* parsingAsWritten(document)
  const isSame = isPlain || (read !== undefined && (yield* isSameTree(document, read)))
  // What an edit in place leaves is the same in both again, unless it brings such elements.
  if (state.revision === revision) state.asWritten = isSame ? 'same' : { revision, tree: read }
  return isSame || !read ? document : read
}

/**
 * The same of a document that an edit would leave, in steps.
 *
 * @param before as it was without the edit, in both readings
 * @param source text that it would have
 * @param changes what of it the edit brings
 */
export function* readingProposed(
  before: { tree: TreeDocument; read: TreeDocument },
  document: TreeDocument,
  { source, changes }: { source: string; changes: readonly { text: string }[] },
): Steps<TreeDocument> {
  if (document !== before.tree) return yield* readingAsWritten(document)
  let differs = before.read !== before.tree
  for (const { text } of differs ? [] : changes) differs ||= yield* findingPrefixed(text)
  return (differs && (yield* parsingAsWritten({ source }))) || document
}

/** `readingAsWritten` for who puts pages together. @throws TreeError where composition cannot read the document */
export function* readingComposed(document: TreeDocument): Steps<TreeDocument> {
  const tree = yield* readingAsWritten(document)
  const { asWritten } = stateOf(document)
  if (typeof asWritten === 'object' && !asWritten.tree) yield* parsingPrefixed(document.source)
  return tree
}

/** The other tree of a document, where somebody has made it and there is one. */
export function knownReading(document: TreeDocument): TreeDocument | undefined {
  const { asWritten, revision } = stateOf(document)
  return typeof asWritten === 'object' && asWritten.revision === revision ? asWritten.tree : undefined
}

/** @param tree in which prefixed elements of the document stand where they are written */
export function noteReading(document: TreeDocument, tree: TreeDocument): void {
  const state = stateOf(document)
  state.asWritten = { revision: state.revision, tree }
}

/** What is known of a document is known of its copy. */
export function copyReading(document: TreeDocument, copy: TreeDocument): void {
  const read = knownReading(document)
  if (read) noteReading(copy, read)
  else if (stateOf(document).asWritten === 'same') stateOf(copy).asWritten = 'same'
}

/** The same tree made anew. @returns undefined where composition could not read it */
export function* parsingAsWritten({ source }: Pick<TreeDocument, 'source'>): Steps<TreeDocument | undefined> {
  try {
    return { kind: 'html', source, root: yield* parsingPrefixed(source), clean: false, asWritten: true }
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}

function* isSameTree({ root }: TreeDocument, read: TreeDocument): Steps<boolean> {
  const [as, bs] = [root.childNodes, read.root.childNodes]
  return (yield* comparing(as, bs)) && (yield* closingAlike(as, bs))
}

/** Whether the prefixed elements of equal trees have the same end tags: one without would take in what an edit puts behind it. */
function* closingAlike(as: readonly ChildNode[], bs: readonly ChildNode[]): Steps<boolean> {
  const lists = [{ as, bs }]
  let seen = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    const others = list.bs.filter(isElement)
    for (const [i, element] of list.as.filter(isElement).entries()) {
      if (++seen % NODES_PER_STEP === 0) yield
      const other = others[i]
      const end = element.sourceCodeLocation?.endTag?.endOffset
      const isPrefixed = element.tagName.includes(':')
      if (!other || (isPrefixed && (!end || end !== other.sourceCodeLocation?.endTag?.endOffset))) return false
      lists.push({ as: element.childNodes, bs: other.childNodes })
    }
  }
  return true
}

/** Reads another text as a document is read, in steps. @throws TreeError as `parsingDocument` */
export function* parsingAlike({ kind, asWritten }: TreeDocument, source: string): Steps<TreeDocument> {
  if (!asWritten) return yield* parsingDocument(kind, source)
  return { kind, source, root: yield* parsingPrefixed(source), clean: false, asWritten }
}

/** Reads a fragment as a document is read, in steps. @param context its parent-to-be @throws TreeError as `parsingFragment` */
export function parsingFragmentAlike(
  { kind, asWritten }: Pick<TreeDocument, 'kind' | 'asWritten'>,
  text: string,
  context: ElementNode,
): Steps<ChildNode[]> {
  return asWritten ? parsingFragmentAsWritten(text, context) : parsingFragment(kind, text, context)
}

/** As the content of an element that may have a prefix, or stand in such ones. */
function parsingFragmentAsWritten(text: string, context: ElementNode): Steps<ChildNode[]> {
  return parsingPrefixedFragment(text, unprefixedFrom(context) ?? context, boundIn(context))
}

/** Nodes of a document as composition reads it. */
export interface Shown {
  document: TreeDocument
  nodes: readonly ChildNode[]
  /** Whose children they are. */
  parents: readonly ParentNode[]
}

/** What nodes of a document, and those around them, are as composition reads it, in steps. */
export function* findingShown(
  document: TreeDocument,
  nodes: readonly ChildNode[],
  parents: readonly ParentNode[] = [],
): Steps<Shown> {
  const read = yield* readingAsWritten(document)
  if (read === document) return { document, nodes, parents }
  const around = yield* findingSame(document, parents.filter(isElement), read)
  return { document: read, nodes: yield* findingSame(document, nodes, read), parents: around.filter(isElement) }
}
