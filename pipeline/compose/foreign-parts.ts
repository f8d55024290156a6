/** Parts of SVG and MathML that a page shows outside of these (COMP-31). */

import { asciiLower } from '../tree/ascii.ts'
import {
  type ElementNode,
  elementAlone,
  HTML_NAMESPACE,
  isElement,
  MATHML_NAMESPACE,
  type ParentNode,
  SVG_NAMESPACE,
} from '../tree/nodes.ts'
import { HTML_AGAIN, isOfHtml } from '../tree/raw-text.ts'
import type { Composing } from './composing.ts'
import { append, NODE_BYTES } from './copy.ts'

/** The elements that begin them in HTML. */
const ROOTS = new Map([
  [SVG_NAMESPACE, 'svg'],
  [MATHML_NAMESPACE, 'math'],
])

/**
 * Puts an element behind the others of a parent. HTML reads a part of SVG or MathML in its own elements as one of them by the same
 * name: a `plaintext` that visitors have put into SVG took all that follows in the page for its text, and an `html` gave its
 * attributes to the page's. So it stands in an `svg` or `math` there.
 */
export function appendShown({ kind, allowance }: Composing, parent: ParentNode, element: ElementNode): void {
  const { namespaceURI, tagName } = element
  const name = kind === 'xml' || namespaceURI === HTML_NAMESPACE ? undefined : ROOTS.get(namespaceURI)
  let into = parent
  if (name !== undefined && tagName !== name && isHtmlIn(parent)) {
    allowance.take(NODE_BYTES)
    const root: ElementNode = { ...elementAlone(name), namespaceURI }
    append(parent, root)
    into = root
  }
  append(into, element)
}

/** Whether HTML's parser takes what begins there for HTML. */
function isHtmlIn(parent: ParentNode): boolean {
  if (!isElement(parent) || parent.namespaceURI === HTML_NAMESPACE) return true
  const name = asciiLower(parent.tagName)
  if (HTML_AGAIN.get(name) !== ROOTS.get(parent.namespaceURI)) return false
  return name !== 'annotation-xml' || isOfHtml(parent)
}
