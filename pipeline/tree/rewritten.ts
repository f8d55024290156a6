/** Trees that nobody has written, beside what is read where their markup is stored (COMP-147). */

import { type ChildNode, type ElementNode, elementAlone, HTML_NAMESPACE, isElement, type ParentNode } from './nodes.ts'
import { findingPrefixed, parsingPrefixed, parsingPrefixedFragment } from './prefixed-parser.ts'
import { prefixedNames, prefixIn, writtenName } from './prefixes.ts'
import { writingMarkup } from './serialize.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** In its contents every element may stand. */
const CONTEXT = elementAlone('template')

/**
 * Whether an element or a document, written as HTML and read again, has elements with names with a prefix that it did not have:
 * there is no markup for some trees with SVG or MathML in them, such as a link around another one there, and what was text is a
 * directive then. In steps.
 */
export function* gainsNames(node: ParentNode): Steps<boolean> {
  const { named, isForeign } = yield* readingNamed(isElement(node) ? [node] : node.childNodes)
  if (!isForeign) return false
  const text = yield* writingMarkup(node, 'html')
  if (!(yield* findingPrefixed(text))) return false
  const isWhole = !isElement(node) || node.tagName === 'html'
  const read = isWhole
    ? (yield* parsingPrefixed(text)).childNodes
    : yield* parsingPrefixedFragment(text, CONTEXT, () => false)
  const again = yield* readingNamed(read)
  return [...again.named].some(([told, count]) => count > (named.get(told) ?? 0))
}

/**
 * How many elements there are that have names with a prefix, by all of these and their values, and whether there are some of SVG,
 * MathML or XML; in steps.
 */
function* readingNamed(nodes: readonly ChildNode[]): Steps<{ named: Map<string, number>; isForeign: boolean }> {
  const named = new Map<string, number>()
  let isForeign = false
  let seen = 0
  const open = nodes.filter(isElement)
  for (let element = open.pop(); element; element = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    isForeign ||= element.namespaceURI !== HTML_NAMESPACE
    if (prefixedNames(element).length > 0) {
      const told = tellingNames(element)
      named.set(told, (named.get(told) ?? 0) + 1)
    }
    for (const inside of [element.childNodes, element.content?.childNodes ?? []])
      for (const node of inside) if (isElement(node)) open.push(node)
  }
  return { named, isForeign }
}

function tellingNames({ tagName, attrs }: ElementNode): string {
  const told = attrs.filter(a => prefixIn(writtenName(a)) !== undefined).map(a => `${writtenName(a)}\0${a.value}`)
  return [tagName, ...told].join('\0').toLowerCase()
}
