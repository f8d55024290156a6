/**
 * The end of an HTML body. White space behind `</body>` and `</html>` is parsed into whatever was open there last, so it
 * follows every edit at the end of the body; edits are compared without it.
 */

import { endWithoutSpace } from '../ascii.ts'
import { LONG, LongText, puttingInOnePiece } from '../long-text.ts'
import {
  type ChildNode,
  type ElementNode,
  isElement,
  isText,
  rootElement,
  type TextNode,
  type TreeDocument,
} from '../nodes.ts'
import { type SourceText, textOf } from '../source-text.ts'
import type { Steps } from '../steps.ts'
import { contentOf, isHtmlElement, isLiteral } from './shape.ts'

export interface Tail {
  /** Where the content of the body ends: at `</body>` or `</html>`, else at the end of the source. */
  start: number
  /** The white space behind, as the tree has it. */
  text: string
}

/** The `body` of an HTML document. */
export function bodyOf(document: TreeDocument): ElementNode | undefined {
  return rootElement(document)?.childNodes.find(
    (node): node is ElementNode => isElement(node) && isHtmlElement(node, 'body'),
  )
}

/** Where a document's body ends, found in steps. XML documents have no body. */
export function* findingTail(document: TreeDocument): Steps<Tail> {
  const none = { start: document.source.length, text: '' }
  if (document.kind === 'xml') return none
  const found = yield* findingEndIn(textOf(document))
  const last = lastNode(bodyOf(document)?.childNodes ?? [])
  if (!found || !last) return found ?? none
  // What looks like a tag may be text of a script, or part of a comment or tag that is not closed.
  const within = isText(last) && last.parentNode && isElement(last.parentNode) && isLiteral(last.parentNode)
  const place = last.sourceCodeLocation
  const reach = isText(last) ? 0 : ((isElement(last) ? place?.startTag : place)?.endOffset ?? 0)
  return within || reach > found.start ? none : found
}

/** Comments behind the body that are looked at in one step. */
const COMMENTS_PER_STEP = 1_000

/** UTF-16 code units at the end of a text that tell mostly. */
const LAST = 4096

/** Of a long text the last part is looked at first. */
function* findingEndIn(text: SourceText): Steps<Tail | undefined> {
  const from = Math.max(0, text.length - LAST)
  const { tail, isReached } = yield* findingEndOfBody(text.slice(from))
  if (isReached && from > 0) return (yield* findingEndOfBody(text.source)).tail
  return tail && { ...tail, start: tail.start + from }
}

/**
 * Looks from the end of a text for end tags of `body` and `html` with nothing but white space and comments around.
 *
 * @returns what was found, and whether what stands before the text would count
 */
function* findingEndOfBody(source: string): Steps<{ tail: Tail | undefined; isReached: boolean }> {
  let first: Tail | undefined
  let isReached = false
  let space = ''
  let seen = 0
  for (let end = source.length; ; ) {
    const start = yield* findingSpace(source, end)
    if (++seen % COMMENTS_PER_STEP === 0) yield
    space = source.slice(start, end) + space
    isReached = start === 0
    if (source.charAt(start - 1) !== '>') break
    const comment = source.endsWith('-->', start)
    end = source.lastIndexOf(comment ? '<!--' : '<', start - 1)
    isReached = end < 0
    if (isReached) break
    if (comment) continue
    if (!/^<\/(?:body|html)[\t\n\f\r ]*>$/i.test(source.slice(end, start))) break
    first = { start: end, text: space }
  }
  // Of many end tags, the first one alone counts: the white space behind it is gone through once.
  return { tail: first && { ...first, text: yield* parsedSpace(first.text) }, isReached }
}

/** Where the white space begins that ends at an offset. */
function* findingSpace(source: string, end: number): Steps<number> {
  let start = end
  for (;;) {
    const least = Math.max(0, start - LONG)
    start = endWithoutSpace(source, start, least)
    if (start > least || start === 0) return start
    yield
  }
}

/** White space as the parser reads it: every line ends with a line feed. */
function* parsedSpace(space: string): Steps<string> {
  if (!space.includes('\r')) return space
  const text = new LongText()
  for (let at = 0; at < space.length; ) {
    const isWithinEnd = space.charAt(at + LONG - 1) === '\r' && space.charAt(at + LONG) === '\n'
    const end = at + LONG + (isWithinEnd ? 1 : 0)
    if (text.add(space.slice(at, end).replaceAll('\r\n', '\n').replaceAll('\r', '\n'))) yield
    at = end
  }
  return text.whole
}

/**
 * Does work while the trailing white space is missing from the text that holds it; it is back also when the work is
 * broken off.
 *
 * @param nodes siblings of which one holds that text, however deep
 * @param tail its `start` counts like the offsets of these nodes
 */
export function* workingWithoutTail<T>(nodes: ChildNode[], tail: Tail, work: Steps<T>): Steps<T> {
  yield* puttingTogether(nodes, tail)
  const putBack = takeOut(nodes, tail)
  try {
    return yield* work
  } finally {
    putBack()
  }
}

/** The parser may have left long white space as thousands of pieces, which a look at it would put together among other work. */
function* puttingTogether(nodes: ChildNode[], { text }: Tail): Steps<void> {
  const last = lastNode(nodes)
  if (text.length <= LONG || !last || !isText(last)) return
  yield* puttingInOnePiece(last.value)
  yield* puttingInOnePiece(text)
}

/** @returns puts the white space back */
function takeOut(nodes: ChildNode[], tail: Tail): () => void {
  const node = tailText(nodes, tail)
  if (!node) return () => undefined
  const whole = node.value
  node.value = whole.slice(0, whole.length - tail.text.length)
  return () => {
    node.value = whole
  }
}

/** Takes the trailing white space out of a tree that is no document's yet, in steps. */
export function* droppingTail(document: TreeDocument): Steps<void> {
  const tail = yield* findingTail(document)
  const nodes = bodyOf(document)?.childNodes ?? []
  yield* puttingTogether(nodes, tail)
  const node = tailText(nodes, tail)
  if (node) node.value = node.value.slice(0, node.value.length - tail.text.length)
}

/** The text that reaches behind the end of the body: the last one, but where the parser moved things. */
function tailText(nodes: ChildNode[], tail: Tail): TextNode | undefined {
  if (tail.text === '') return undefined
  const last = lastNode(nodes)
  if (last && holds(last, tail)) return last
  const search = (list: ChildNode[]): TextNode | undefined => {
    for (const node of list) {
      const found = isElement(node) ? search(contentOf(node).childNodes) : node
      if (found && holds(found, tail)) return found
    }
    return undefined
  }
  return search(nodes)
}

function holds(node: ChildNode, { start, text }: Tail): node is TextNode {
  return isText(node) && (node.sourceCodeLocation?.endOffset ?? 0) > start && node.value.endsWith(text)
}

/** The last node in tree order. */
function lastNode(nodes: ChildNode[]): ChildNode | undefined {
  let last = nodes.at(-1)
  for (let next = last; next; next = isElement(next) ? contentOf(next).childNodes.at(-1) : undefined) last = next
  return last
}
