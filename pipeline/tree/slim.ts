/**
 * Makes a parsed tree lighter without changing anything of it: the parser leaves room in lists for children that never
 * came, texts that are chains of single characters, and a string of its own for every name and value.
 */

import { type ChildNode, type DocumentNode, isElement, isText } from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** UTF-16 code units up to which a part of a text is copied anyway. */
const COPIED = 12

/** UTF-16 code units of values that are looked for among those met before: classes, types, languages. */
const SHARED = 64

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
    if (isText(node)) {
      node.value = asInSource(node.value, node.sourceCodeLocation?.startOffset, source)
      continue
    }
    if (!isElement(node)) continue
    for (const attribute of node.attrs) {
      attribute.name = shared(attribute.name)
      attribute.value = shared(attribute.value)
    }
    if (node.attrs.length > 0) node.attrs = node.attrs.slice()
    node.childNodes = node.childNodes.slice()
    for (const child of node.childNodes) open.push(child)
    if (!node.content) continue
    node.content.childNodes = node.content.childNodes.slice()
    for (const child of node.content.childNodes) open.push(child)
  }
}

/** The same text as a part of the source, where it stands there as it is. */
function asInSource(text: string, start: number | undefined, source: string): string {
  if (start === undefined || text.length <= COPIED) return text
  const part = source.slice(start, start + text.length)
  return part === text ? part : text
}
