/** Whether there is any HTML for the content of an element: there is none for a paragraph in a paragraph. */

import { comparing } from '../compare.ts'
import { parsingHtml } from '../html.ts'
import { TreeError } from '../limits.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../nodes.ts'
import { parsingPrefixed } from '../prefixed-parser.ts'
import { outerMarkup, writingMarkup } from '../serialize.ts'
import type { Steps } from '../steps.ts'
import { contentOf, isHtmlElement } from './shape.ts'

/**
 * Writes, in steps, an element in nothing but its ancestors and reads it again. When that fails, writing more of the
 * document fails as well.
 *
 * @returns true also where the ancestors themselves cannot be written so
 */
export function* provingWritable(document: TreeDocument, element: ElementNode): Steps<boolean> {
  if (document.kind === 'xml') return true
  const line: ElementNode[] = []
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode) line.unshift(node)
  const [root, part] = line
  if (!root || !part || root.parentNode?.nodeName !== '#document') return true
  let markup = ''
  for (const ancestor of line.slice(0, -1)) markup += startTagOf(ancestor)
  markup += yield* writingMarkup(element, 'html')
  // Without its end tag a prefixed element holds nothing.
  if (document.asWritten) for (const { tagName } of line.slice(0, -1).reverse()) markup += `</${tagName}>`
  try {
    const { mode } = document.root
    let node: ParentNode = yield* document.asWritten
      ? parsingPrefixed(markup, undefined, mode)
      : parsingHtml(markup, mode)
    for (const ancestor of line) {
      const inner: ElementNode | undefined = node.childNodes
        .filter(isElement)
        .find(child => child.tagName === ancestor.tagName)
      if (!inner) return true
      node = isHtmlElement(inner, 'template') ? contentOf(inner) : inner
    }
    return yield* comparing(contentOf(element).childNodes, node.childNodes)
  } catch (error) {
    if (error instanceof TreeError) return false
    throw error
  }
}

function startTagOf(element: ElementNode): string {
  const empty = outerMarkup({ ...element, childNodes: [], content: undefined }, 'html')
  return empty.slice(0, empty.lastIndexOf('</'))
}
