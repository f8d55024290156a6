/**
 * Text of elements as the server's own pseudo-classes read it (COMP-134): NFC, trimmed, runs of white space one space. Who
 * asks about a few elements reads each; once more has been read than the document holds, the text of the whole is put
 * together, and each element has a part of it.
 */

import { type ElementNode, isElement, isText, type ParentNode } from '../nodes.ts'
import { normalForm } from '../normal-form.ts'
import type { ExtensionContext } from './extension.ts'

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
  /** The text of the document, with the part of each element; `none` where parts of it are no texts of elements. */
  index: DocumentText | 'none' | undefined
}

interface DocumentText {
  whole: string
  parts: Map<ElementNode, { start: number; end: number }>
}

const TEXTS = Symbol('texts')

/** Characters of source that an element takes at least: `<b></b>`. */
const ELEMENT_SOURCE = 7

/** Normalizes one text for comparison. */
export function normalized(text: string): string {
  return collapsed(normalForm(text)).trim()
}

/** The text of an element. */
export function textOf(element: ElementNode, context: ExtensionContext): Extract {
  const texts = context.shared(TEXTS, (): Texts => ({ read: 0, index: undefined }))
  if (texts.index === undefined && texts.read > context.document.source.length) texts.index = indexed(context) ?? 'none'
  // Elements in contents of templates have no part: they do not belong to the text of the document.
  const part = typeof texts.index === 'object' ? texts.index.parts.get(element) : undefined
  if (typeof texts.index === 'object' && part) return { whole: texts.index.whole, ...part, isShared: true }
  const pieces: string[] = []
  const elements = gather(element, pieces)
  const text = pieces.join('')
  texts.read += text.length + elements * ELEMENT_SOURCE
  context.spend(elements + (text.length >> 3))
  const whole = normalized(text)
  return { whole, start: 0, end: whole.length, isShared: false }
}

/** Collects the text below a node. @returns the number of elements that were visited */
function gather(parent: ParentNode, pieces: string[]): number {
  let elements = 1
  for (const child of parent.childNodes) {
    if (isText(child)) pieces.push(child.value)
    else if (isElement(child)) elements += gather(child, pieces)
  }
  return elements
}

/**
 * The text of the whole document. Text between two tags is normalized by itself; where that is not the normal form of the
 * whole, because a combining character starts an element, parts of the whole are not what elements say.
 */
function indexed(context: ExtensionContext): DocumentText | undefined {
  const parts: DocumentText['parts'] = new Map()
  let whole = ''
  let pending = ''
  let afterSpace = true
  const flush = () => {
    if (pending === '') return
    const text = collapsed(normalForm(pending))
    pending = ''
    const added = afterSpace && text.startsWith(' ') ? text.slice(1) : text
    if (added === '') return
    whole += added
    afterSpace = added.endsWith(' ')
  }
  const visit = (parent: ParentNode) => {
    for (const child of parent.childNodes) {
      if (isText(child)) pending += child.value
      else if (isElement(child)) {
        flush()
        const start = whole.length
        visit(child)
        flush()
        parts.set(child, { start, end: whole.length })
      }
    }
  }
  visit(context.document.root)
  flush()
  context.spend(parts.size + (whole.length >> 2))
  if (normalForm(whole) !== whole) return undefined
  for (const part of parts.values()) {
    if (part.start < part.end && whole[part.start] === ' ') part.start++
    if (part.start < part.end && whole[part.end - 1] === ' ') part.end--
  }
  return { whole, parts }
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ')
}
