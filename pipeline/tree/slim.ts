/**
 * Makes a parsed tree lighter without changing anything of it: the parser leaves room in lists for children that never
 * came, texts that are chains of single characters, and a string of its own for every name and value.
 */

import { comparingTexts, LONG, puttingInOnePiece } from './long-text.ts'
import { type ChildNode, type DocumentNode, isElement, isText, type Span } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'
import { type Counts, noteCounts } from './weight.ts'

/** UTF-16 code units up to which a part of a text is copied anyway. */
const COPIED = 12

/** UTF-16 code units of values that are looked for among those met before: classes, types, languages. */
const SHARED = 64

/** Siblings that are gone through: a million of them would be put aside in one step. */
interface Level {
  nodes: readonly ChildNode[]
  next: number
}

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
  const open: Level[] = [{ nodes: root.childNodes, next: 0 }]
  let seen = 0
  const counts: Counts = { elements: 0, leaves: 0, attributes: 0 }
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    if (!isElement(node)) {
      counts.leaves++
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
    counts.elements++
    counts.attributes += node.attrs.length
    for (const attribute of node.attrs) {
      attribute.name = shared(attribute.name)
      if (attribute.value.length > LONG) yield* puttingInOnePiece(attribute.value)
      else attribute.value = shared(attribute.value)
    }
    if (node.attrs.length > 0) node.attrs = node.attrs.slice()
    for (const parent of node.content ? [node, node.content] : [node]) {
      parent.childNodes = parent.childNodes.slice()
      if (parent.childNodes.length > 0) open.push({ nodes: parent.childNodes, next: 0 })
    }
  }
  noteCounts(root, source, counts)
}

/** What stands between `<!--` and `-->`. */
function inComment({ startOffset, endOffset }: Span): Span {
  return { startOffset: startOffset + 4, endOffset: endOffset - 3 }
}

/** The same as `asInSource`, in steps: the parser may have left the text as thousands of pieces. */
function* slimmingLong(text: string, { startOffset, endOffset }: Span, source: string): Steps<string> {
  yield* puttingInOnePiece(text)
  const written = source.slice(startOffset, endOffset)
  return (yield* comparingTexts(text, written)) ? written : text
}

/** The same text as a part of the source, where it stands there as it is. */
function asInSource(text: string, start: number | undefined, source: string): string {
  if (start === undefined || text.length <= COPIED) return text
  const part = source.slice(start, start + text.length)
  return part === text ? part : text
}
