/** What the source says about single elements and places: whether they are closed, and where content may be put. */

import { asciiLower } from '../ascii.ts'
import { parseFragment } from '../fragment.ts'
import {
  type ElementNode,
  type FragmentNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
  SVG_NAMESPACE,
  type TreeDocument,
} from '../nodes.ts'
import { isVoid } from '../serialize-html.ts'
import { textOf } from '../source-text.ts'

export function isHtmlElement(node: ParentNode, name: string): node is ElementNode {
  return isElement(node) && node.namespaceURI === HTML_NAMESPACE && node.tagName === name
}

const LITERAL = new Set('iframe noembed noframes noscript plaintext script style textarea title xmp'.split(' '))

/** Whether the element's content is text in which no tag but its own end tag counts. */
export function isLiteral(element: ElementNode): boolean {
  return element.namespaceURI === HTML_NAMESPACE && LITERAL.has(element.tagName)
}

/** The list that holds the children of an element: of a template, that of its contents. */
export function contentOf(element: ElementNode): ElementNode | FragmentNode {
  return element.content ?? element
}

/** Whether the element is written as one tag that closes itself: XML, or SVG and MathML in HTML. */
export function isSelfClosed(document: TreeDocument, element: ElementNode): boolean {
  const place = element.sourceCodeLocation
  if (!place?.startTag || place.endTag || place.endOffset !== place.startTag.endOffset) return false
  const tag = textOf(document).slice(place.startTag.startOffset, place.startTag.endOffset)
  if (!tag.endsWith('/>')) return false
  if (document.kind === 'xml') return true
  if (element.namespaceURI === HTML_NAMESPACE) return false
  // The slash of `<g fill=red/>` belongs to the value: then what follows the tag stands inside.
  const context: ElementNode = { ...EMPTY, nodeName: 'svg', tagName: 'svg', namespaceURI: SVG_NAMESPACE }
  return parseFragment('html', `${tag}.`, context).length === 2
}

/** Whether a prefixed element has no end tag, and so ends with its start tag. */
export function endsWithTag({ asWritten }: TreeDocument, { tagName, sourceCodeLocation: place }: ElementNode): boolean {
  return (
    asWritten === true && tagName.includes(':') && !place?.endTag && place?.endOffset === place?.startTag?.endOffset
  )
}

const EMPTY = { attrs: [], childNodes: [], parentNode: null }

/** Whether the element may have content but no end tag that the source shows: something else has to close it. */
export function isOpen(document: TreeDocument, element: ElementNode): boolean {
  if (element.sourceCodeLocation?.endTag) return false
  if (endsWithTag(document, element)) return false
  return !(document.kind === 'html' && isVoid(element)) && !isSelfClosed(document, element)
}

/**
 * The elements that are still open behind an element without end tag: itself and last descendants that end with it.
 *
 * @returns outermost first; empty when the element is closed
 */
export function openElements(document: TreeDocument, element: ElementNode): ElementNode[] {
  const chain: ElementNode[] = []
  const end = element.sourceCodeLocation?.endOffset
  for (let next: ElementNode = element; isOpen(document, next); ) {
    chain.push(next)
    const last = contentOf(next).childNodes.at(-1)
    const lastEnd = last?.sourceCodeLocation?.endOffset
    if (!last || !isElement(last) || (end !== undefined && lastEnd !== undefined && lastEnd !== end)) break
    next = last
  }
  return chain
}

/** Whether the source has the element's tags where its offsets say. Elements without offsets have nothing to check. */
export function tagsInPlace(document: TreeDocument, element: ElementNode): boolean {
  const place = element.sourceCodeLocation
  if (!place) return true
  if (!place.startTag || !beginsWith(document, place.startTag.startOffset, `<${element.tagName}`)) return false
  if (place.endTag) {
    if (place.endTag.endOffset !== place.endOffset) return false
    return beginsWith(document, place.endTag.startOffset, `</${element.tagName}`)
  }
  return place.endOffset >= place.startTag.endOffset && place.endOffset <= document.source.length
}

function beginsWith(document: TreeDocument, offset: number, text: string): boolean {
  const source = textOf(document)
  if (source.startsWith(text, offset)) return true
  if (document.kind === 'xml') return false
  return asciiLower(source.slice(offset, offset + text.length)) === asciiLower(text)
}
