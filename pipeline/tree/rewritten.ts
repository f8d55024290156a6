/** Trees that nobody has written, beside what is read where their markup is stored (COMP-147). */

import { randomUUID } from 'node:crypto'
import { html } from 'parse5'
import { TreeError } from './limits.ts'
import {
  type Attribute,
  type ChildNode,
  type ElementNode,
  elementAlone,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from './nodes.ts'
import { parsingPrefixed, parsingPrefixedFragment } from './prefixed-parser.ts'
import { prefixedNames } from './prefixes.ts'
import { RAW } from './raw-text.ts'
import { writingMarkup } from './serialize.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** In its contents every element may stand. */
const CONTEXT = elementAlone('template')
/** There is one in each name with a prefix. */
const PREFIX = /[^\t\n\f\r />]:[^\t\n\f\r />=]/
/** By name: what is SVG where HTML reads it is no other namespace in trees of XML. */
const FOREIGN = new Set(['svg', 'math'])

/**
 * Whether an element or a document, written as HTML and read again, has elements with names with a prefix that it did not have:
 * there is no markup for some trees with SVG, MathML or raw text in them, such as a link around another one there, and what was
 * text is a directive then. In steps.
 *
 * @param node whose elements are marked meanwhile
 */
export function* gainsNames(node: ParentNode): Steps<boolean> {
  const { named, isStable } = yield* readingNamed(isElement(node) ? [node] : node.childNodes)
  if (isStable) return false
  // No text can hold it: names alone would take what was text for an element that is lost behind it.
  const mark = `x-${randomUUID()}`
  const own = named.map(element => ({ element, attrs: element.attrs }))
  let text: string
  try {
    for (const [i, { element, attrs }] of own.entries()) element.attrs = [...attrs, { name: mark, value: `${i}` }]
    text = yield* writingMarkup(node, 'html')
  } finally {
    for (const { element, attrs } of own) element.attrs = attrs
  }
  if (!PREFIX.test(text)) return false
  // What is stored of an element has the doctype of HTML: there, a table ends a paragraph.
  const isWhole = !isElement(node) || node.tagName === 'html'
  const mode = isElement(node) ? html.DOCUMENT_MODE.NO_QUIRKS : undefined
  let read: readonly ChildNode[]
  try {
    read = isWhole
      ? (yield* parsingPrefixed(text, undefined, mode)).childNodes
      : yield* parsingPrefixedFragment(text, CONTEXT, () => false)
  } catch (error) {
    // What is too much, marks included, cannot be told.
    if (error instanceof TreeError) return true
    throw error
  }
  const again = yield* readingNamed(read)
  const marks = again.named.map(({ attrs }) => attrs.find(({ name }: Attribute) => name === mark)?.value)
  // One that is taken apart is there twice.
  return marks.includes(undefined) || new Set(marks).size < marks.length
}

/**
 * The elements that have names with a prefix, and whether there is nothing by which what is text may be read as markup: no SVG,
 * MathML or XML, and no raw text that looks like markup; in steps.
 */
function* readingNamed(nodes: readonly ChildNode[]): Steps<{ named: ElementNode[]; isStable: boolean }> {
  const named: ElementNode[] = []
  let isStable = true
  let seen = 0
  const open = nodes.filter(isElement)
  for (let element = open.pop(); element; element = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    const { tagName, namespaceURI, childNodes, content } = element
    if (namespaceURI !== HTML_NAMESPACE || FOREIGN.has(tagName.toLowerCase()) || holdsRawMarkup(element))
      isStable = false
    if (prefixedNames(element).length > 0) named.push(element)
    for (const inside of [childNodes, content?.childNodes ?? []])
      for (const node of inside) if (isElement(node)) open.push(node)
  }
  return { named, isStable }
}

function holdsRawMarkup({ tagName, childNodes }: ElementNode): boolean {
  return RAW.has(tagName) && childNodes.some(node => isElement(node) || ('value' in node && node.value.includes('<')))
}
