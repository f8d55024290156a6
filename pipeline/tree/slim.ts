/**
 * Makes a parsed tree lighter without changing anything of it: the parser leaves room in lists for children that never
 * came, texts that are chains of single characters, and a string of its own for every name and value.
 */

import { LONG, puttingInOnePiece } from './long-text.ts'
import { type ChildNode, type DocumentNode, isElement, isText, type Span } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** UTF-16 code units up to which a part of a text is copied anyway. */
const COPIED = 12

/** UTF-16 code units of values that are looked for among those met before: classes, types, languages. */
const SHARED = 64

/** UTF-16 code units of the source that are looked at in one step. */
const STRETCH = 256 * 1024

/**
 * In steps.
 *
 * @param source text of the tree; it stays in memory as long as the tree
 */
export function* slimming(root: DocumentNode, source: string): Steps<void> {
  const strings = new Map<string, string>()
  const shared = (text: string): string => {
    if (text.length > SHARED) return text
    const known = strings.get(text)
    if (known !== undefined) return known
    strings.set(text, text)
    return text
  }
  root.childNodes = root.childNodes.slice()
  const open: ChildNode[] = [...root.childNodes]
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) {
      const place = node.sourceCodeLocation
      if (isText(node)) {
        const isLong = place && node.value.length > LONG
        node.value = isLong
          ? yield* slimmingLong(node.value, place, source)
          : asInSource(node.value, place?.startOffset, source)
      } else if (node.nodeName === '#comment' && place && node.data.length > LONG)
        node.data = yield* slimmingLong(node.data, inComment(place), source)
      continue
    }
    for (const attribute of node.attrs) {
      attribute.name = shared(attribute.name)
      if (attribute.value.length > LONG) yield* puttingInOnePiece(attribute.value)
      else attribute.value = shared(attribute.value)
    }
    if (node.attrs.length > 0) node.attrs = node.attrs.slice()
    node.childNodes = node.childNodes.slice()
    for (const child of node.childNodes) open.push(child)
    if (!node.content) continue
    node.content.childNodes = node.content.childNodes.slice()
    for (const child of node.content.childNodes) open.push(child)
  }
}

/** What stands between `<!--` and `-->`. */
function inComment({ startOffset, endOffset }: Span): Span {
  return { startOffset: startOffset + 4, endOffset: endOffset - 3 }
}

/** What the parser reads as one other character. */
const EXCHANGED = /[\r\0]/

/**
 * The same text as a part of the source, without looking at it: the parser may have left it as thousands of pieces. What has
 * the length that it has in the source differs from it in single characters at most, as references and tags are longer than
 * what becomes of them.
 */
function* slimmingLong(text: string, { startOffset, endOffset }: Span, source: string): Steps<string> {
  let isSame = endOffset - startOffset === text.length
  for (let at = startOffset; isSame && at < endOffset; at += STRETCH) {
    yield
    isSame = !EXCHANGED.test(source.slice(at, Math.min(at + STRETCH, endOffset)))
  }
  if (isSame) return source.slice(startOffset, endOffset)
  yield* puttingInOnePiece(text)
  return text
}

/** The same text as a part of the source, where it stands there as it is. */
function asInSource(text: string, start: number | undefined, source: string): string {
  if (start === undefined || text.length <= COPIED) return text
  const part = source.slice(start, start + text.length)
  return part === text ? part : text
}
