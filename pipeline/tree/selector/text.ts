/**
 * Text of elements as the server's own pseudo-classes read it (COMP-134): NFC, trimmed, runs of white space one space. Who
 * asks about a few elements reads each; once more has been read than the document holds, the text of the whole is put
 * together, and each element has a part of it.
 */

import { type ChildNode, type ElementNode, isElement, isText, type ParentNode, type TextNode } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import type { ExtensionContext } from './extension.ts'
import { normalized, TextWriter } from './normal-text.ts'

/** A part of a text; `whole` is that of the document when `isShared`, else the element's own. */
export interface Extract {
  whole: string
  start: number
  end: number
  isShared: boolean
}

/** What a query knows of the texts in its document. */
interface Texts {
  /** Characters and elements read so far, one by one. */
  read: number
}

/** The text of a document, with the part of each element. */
interface DocumentText {
  whole: string
  parts: Map<ElementNode, { start: number; end: number }>
}

const TEXTS = Symbol('texts')
const INDEX = Symbol('text of the document')

/** Characters of source that an element takes at least: `<b></b>`. */
const ELEMENT_SOURCE = 7

/** Characters of source that are read without a pause. */
const SHORT = 16 * 1024

/** The text of an element. */
export function textOf(element: ElementNode, context: ExtensionContext): Extract {
  const texts = context.shared(TEXTS, (): Texts => ({ read: 0 }))
  if (texts.read > context.document.source.length) {
    const index = context.prepared(INDEX, () => indexing(context))
    // Elements in contents of templates have no part: they do not belong to the text of the document.
    const part = index?.parts.get(element)
    if (index && part) return { whole: index.whole, ...part, isShared: true }
  }
  const text = shortText(element, texts, context) ?? context.prepared(element, () => reading(element, texts, context))
  return { whole: text, start: 0, end: text.length, isShared: false }
}

/** @returns undefined for an element that takes long to read */
function shortText(element: ElementNode, texts: Texts, context: ExtensionContext): string | undefined {
  const pieces: string[] = []
  const read = gather(element, pieces, SHORT)
  context.spend(1 + (read >> 3))
  if (read > SHORT) return undefined
  texts.read += read
  return normalized(pieces.join(''))
}

/**
 * Collects the text below a node.
 *
 * @returns what was read, in characters of source; more than `most` when it was broken off
 */
function gather(parent: ParentNode, pieces: string[], most: number): number {
  let read = ELEMENT_SOURCE
  for (const child of parent.childNodes) {
    if (read > most) break
    if (isText(child)) {
      pieces.push(child.value)
      read += child.value.length
    } else if (isElement(child)) read += gather(child, pieces, most - read)
  }
  return read
}

/** The text of a long element, in steps. */
function* reading(element: ElementNode, texts: Texts, context: ExtensionContext): Steps<string> {
  const writer = new TextWriter()
  let read = ELEMENT_SOURCE
  let seen = 0
  for (const node of walking(element)) {
    if (++seen % NODES_PER_STEP === 0) yield
    read += isText(node) ? node.value.length : ELEMENT_SOURCE / 2
    if (isText(node) && writer.write(node.value)) yield* writer.writing()
  }
  writer.endPart()
  texts.read += read
  context.spend(1 + (read >> 3))
  return writer.text.trimEnd()
}

/**
 * The text of the whole document, in steps. Text between two tags is normalized by itself; where that is not the normal
 * form of the whole, because a combining character starts an element, parts of the whole are not what elements say.
 */
function* indexing(context: ExtensionContext): Steps<DocumentText | undefined> {
  const parts: DocumentText['parts'] = new Map()
  const writer = new TextWriter()
  let seen = 0
  for (const node of walking(context.document.root)) {
    if (++seen % NODES_PER_STEP === 0) yield
    if (isText(node)) {
      if (writer.write(node.value)) yield* writer.writing()
      continue
    }
    writer.endPart()
    const { length } = writer.text
    const part = parts.get(node)
    if (part) part.end = length
    else parts.set(node, { start: length, end: length })
  }
  writer.endPart()
  const whole = writer.text
  context.spend(parts.size + (whole.length >> 2))
  if (!writer.isNormal) return undefined
  seen = 0
  for (const part of parts.values()) {
    if (++seen % NODES_PER_STEP === 0) yield
    if (part.start < part.end && whole[part.start] === ' ') part.start++
    if (part.start < part.end && whole[part.end - 1] === ' ') part.end--
  }
  return { whole, parts }
}

/** Texts below a node in document order, and elements, each before and after what it holds. */
function* walking(within: ParentNode): Generator<ElementNode | TextNode> {
  const open: { element: ElementNode | undefined; nodes: readonly ChildNode[]; next: number }[] = []
  let level: (typeof open)[number] | undefined = { element: undefined, nodes: within.childNodes, next: 0 }
  while (level) {
    const node: ChildNode | undefined = level.nodes[level.next++]
    if (!node) {
      if (level.element) yield level.element
      level = open.pop()
    } else if (isText(node)) yield node
    else if (isElement(node)) {
      yield node
      open.push(level)
      level = { element: node, nodes: node.childNodes, next: 0 }
    }
  }
}
