/**
 * Edits of single elements that keep every byte outside the change (HTTP-24). An edit is proposed first: the document
 * stays as it is until the proposal settles, so that other requests read the old tree while the new one is committed.
 *
 * The new source is made by splicing, and proved to parse to the expected tree: locally where the document is clean,
 * else by parsing the whole. Where a splice does not prove, more is written: the serialized fragment, end tags that the
 * author left out, the smallest ancestor that parses, the whole document. Some trees have no HTML (`p` in `p`): then the
 * parsed text is the document.
 */

import { cloning } from '../clone.ts'
import { comparing } from '../compare.ts'
import { parsingDocument } from '../document.ts'
import { TreeError } from '../limits.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { knownReading } from '../readings.ts'
import { atOnce, done, type Steps } from '../steps.ts'
import { otherEncoding } from '../xml-declaration.ts'
import { findingCounterparts } from './counterpart.ts'
import { ChangedDocument, EditError, refusing } from './error.ts'
import type { PlannedSplice } from './plan.ts'
import { checkAtRest, type ProposedEdit, replaced, unchanged } from './proposal.ts'
import { editOf, isOneReading, proposingRead, readingFor } from './reading.ts'
import { type Edit, namedElements, planAgain, planning, redirected } from './resolve.ts'
import { tagsInPlace } from './shape.ts'
import { bodyOf, findingTail, type Tail, workingWithoutTail } from './tail.ts'
import { writing, writingAgain, writingMarkupOf, writingSame } from './write.ts'

export { ChangedDocument, EditError, type EditReason, PinnedDocument } from './error.ts'
export type { PlannedSplice } from './plan.ts'
export type { Exchange, ProposedEdit, View, Way } from './proposal.ts'
export type { Edit, Placement } from './resolve.ts'

/**
 * Works out an edit. The document is not changed.
 *
 * @param wanted what to do; its nodes belong to the document's tree as it is now
 * @throws EditError when the edit cannot be made; ChangedDocument when a node is not of this tree
 */
export function edit(document: TreeDocument, wanted: Edit): ProposedEdit {
  return atOnce(editing(document, wanted))
}

/** `edit` in steps. Until the last one, nobody else may look at the tree; an edit that is broken off has done nothing. */
export function* editing(document: TreeDocument, wanted: Edit): Steps<ProposedEdit> {
  checkAtRest(document)
  const named = namedElements(wanted)
  for (const element of named) {
    if (!belongs(document, element)) throw new ChangedDocument()
  }
  const made = wanted.asWritten ? yield* editingRead(document, wanted) : undefined
  if (made) return made
  const inPlace = named.every(element => tagsInPlace(document, element))
  const proposed = yield* inPlace ? proposing(document, wanted, named) : proposingAnew(document, wanted, named)
  if (document.kind === 'xml') checkEncoding(otherEncoding(document.source), document.source, proposed.changes)
  return proposed
}

/** Works the edit out as composition reads the document. @returns undefined where it is the same as the standard does */
function* editingRead(document: TreeDocument, wanted: Edit): Steps<ProposedEdit | undefined> {
  const kept = yield* readingFor(document, wanted)
  const read = kept && kept === knownReading(document) ? yield* cloning(kept) : kept
  const there = read && editOf(document, wanted, read)
  if (!there) return undefined
  const made = yield* proposing(read, there, namedElements(there))
  if (made.changes.length === 0) return undefined
  const inPlace = made.way === 'reparsed' ? undefined : yield* proposingSame(document, wanted, made)
  // Both readings are one tree, and stay one.
  if (inPlace && (yield* isOneReading(document, wanted))) return inPlace
  return yield* proposingRead(document, wanted, made, inPlace)
}

/** The same as the standard reads it. @returns undefined where more than the edit changes, or that is not proved */
function* proposingSame(document: TreeDocument, wanted: Edit, made: ProposedEdit): Steps<ProposedEdit | undefined> {
  try {
    return yield* withoutTail(document, function* (tail) {
      const plan = yield* planning(document, tail, wanted)
      return plan && (yield* writingSame(document, tail, plan, made))
    })
  } catch (error) {
    if (error instanceof EditError || error instanceof TreeError) return undefined
    throw error
  }
}

/** In encodings of China, Japan and Korea the last byte of a character takes a bracket behind it along, so that CDATA goes on. */
export const TAKEN = /[^\t-\r -~]\]/

/** In ISO-2022-JP it makes other characters of all that follows, up to the next one. */
const ESCAPE = '\u001b'

/**
 * Stored text is UTF-8. A document that is said to have another encoding reads the same in both as long as it is ASCII.
 *
 * @param encoding which others take it for; undefined where that is UTF-8
 * @param source as it was before
 * @throws EditError when an edit would end that, and others would read other characters than were written
 */
export function checkEncoding(
  encoding: string | undefined,
  source: string,
  changes: readonly Pick<PlannedSplice, 'text'>[],
): void {
  if (encoding === undefined) return
  if (changes.some(({ text }) => text.includes(ESCAPE)) && mayShift(encoding))
    throw new EditError(
      'other-encoding',
      `The document declares ${encoding}, so that an escape (U+001B) may not be written.`,
    )
  // In a document that has others, they begin no character that takes the end of CDATA with it.
  if (changes.every(({ text }) => isAscii(text)) || !(isAscii(source) || changes.some(({ text }) => TAKEN.test(text))))
    return
  const message = `The document declares ${encoding}, but what is written here is UTF-8: declare that, or write é as &#233;.`
  throw new EditError('other-encoding', message)
}

/** Whether escapes may mean something in an encoding: browsers go by what the document says where they do not know its name. */
function mayShift(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding === 'iso-2022-jp'
  } catch {
    return true
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/**
 * `editing` for an edit that somebody has made on an equal tree, and that has left the author's bytes as they are. That it
 * does what was asked for was shown there; that the tree is that of the new text is proved here as well.
 *
 * @returns shows neither the new nodes nor their markup; undefined where the edit has to be worked out
 * @throws as `editing`
 */
export function* editingAgain(document: TreeDocument, wanted: Edit): Steps<ProposedEdit | undefined> {
  checkAtRest(document)
  const named = namedElements(wanted)
  if (!named.every(element => belongs(document, element) && tagsInPlace(document, element))) return undefined
  return yield* withoutTail(document, tail => {
    const plan = planAgain(document, tail, wanted)
    return plan ? writingAgain(document, tail, plan) : done(undefined)
  })
}

/** Contents of templates do not know their document. */
function belongs(document: TreeDocument, element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node)) node = node.parentNode
  return node === document.root || node?.nodeName === '#document-fragment'
}

function proposing(document: TreeDocument, wanted: Edit, named: ElementNode[]): Steps<ProposedEdit> {
  return withoutTail(document, tail => proposingWithin(document, tail, wanted, named))
}

/** Works while the trailing white space of the body is missing from the tree. */
function* withoutTail<T>(document: TreeDocument, work: (tail: Tail) => Steps<T>): Steps<T> {
  const tail = yield* findingTail(document)
  const body = bodyOf(document)?.childNodes ?? []
  return yield* workingWithoutTail(body, tail, within(tail, work))
}

/** Begins when it is asked for the first step. */
function* within<T>(tail: Tail, work: (tail: Tail) => Steps<T>): Steps<T> {
  return yield* work(tail)
}

function* proposingWithin(document: TreeDocument, tail: Tail, wanted: Edit, named: ElementNode[]): Steps<ProposedEdit> {
  const plan = yield* planning(document, tail, wanted)
  if (plan && wanted.asWritten === false) plan.isStandard = true
  if (plan) return yield* refusing(writing(document, tail, plan))
  const nodes = named.slice(0, 1)
  const parents = nodes.flatMap(element => element.parentNode ?? [])
  return unchanged(document, { nodes, parents, inserted: yield* writingMarkupOf(document, parents, nodes) })
}

/** The offsets of the tree do not fit its source: reads the source again and edits that. */
function* proposingAnew(document: TreeDocument, wanted: Edit, named: ElementNode[]): Steps<ProposedEdit> {
  const fresh = yield* parsingDocument(document.kind, document.source)
  if (!(yield* comparing(document.root.childNodes, fresh.root.childNodes)))
    throw new Error('The tree of the document is not that of its source.')
  const found = yield* findingCounterparts(document.root.childNodes, fresh.root.childNodes, named)
  const same = (element: ElementNode): ElementNode => {
    const other = found.get(element)
    if (!other || !isElement(other)) throw new Error('The element does not belong to the document.')
    return other
  }
  const proposed = yield* proposing(fresh, redirected(wanted, same), named.map(same))
  const { nodes, parents, reread } = proposed.propose(view => view)
  const { changes, way, keepsOthers, inserted } = proposed
  const shown = { nodes, parents, reread }
  return replaced(document, yield* proposed.accepting(), { changes, way, keepsOthers, inserted, ...shown })
}
