/**
 * Markup in `select`: the parser passes over most tags in it, as the HTML standard said until 2025. Browsers of today make
 * elements of them, which may take in what follows the place that was written to.
 */

import {
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from '../nodes.ts'
import { mayHavePrefixed } from '../prefixed-parser.ts'
import type { Steps } from '../steps.ts'
import { betweenTags } from './between.ts'

const TAG = /<[a-z/!?]/i
/** Other tags than those that every parser keeps there. */
const OTHER_TAG = /<(?!\/?(?:option|optgroup|hr)[\t\n\f\r />])[a-z/!?]/i

/**
 * What an author wrote, in steps, or undefined where it has tags in a `select` that none of its nodes came from: then the nodes
 * are written. Of what goes into a `select` that is there already, any other tag than those of options counts: there, parsers of
 * fragments and of documents differ as well. Elements with prefixes are kept, as composition shows them: who may write them is
 * judged where they are (COMP-147).
 *
 * @param context the parent of the nodes
 * @param nodes what the text was parsed to
 */
export function* keptText(
  kind: DocumentKind,
  context: ElementNode,
  nodes: readonly ChildNode[],
  text: string,
): Steps<string | undefined> {
  if (kind === 'xml') return text
  if (standsInSelect(context)) return OTHER_TAG.test(text) && !mayHavePrefixed(text) ? undefined : text
  if (!/<select/i.test(text)) return text
  let passedOver = false
  let isShown = false
  yield* betweenTags(nodes, text, (piece, within) => {
    if (!within.some(isSelect)) return
    passedOver ||= TAG.test(piece)
    isShown ||= mayHavePrefixed(piece)
  })
  return passedOver && !isShown ? undefined : text
}

function isSelect({ tagName, namespaceURI }: ElementNode): boolean {
  return tagName === 'select' && namespaceURI === HTML_NAMESPACE
}

function standsInSelect(element: ElementNode): boolean {
  let node: ParentNode | null = element
  while (node && isElement(node) && !isSelect(node)) node = node.parentNode
  return node !== null && isElement(node)
}
