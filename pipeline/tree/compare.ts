/** Whether two trees are the same document, whatever their sources: the judge of every edit. */

import { LONG, puttingInOnePiece } from './long-text.ts'
import { type AnyNode, type Attribute, type ChildNode, isElement, isText } from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'

/**
 * Compares names, namespaces, attributes (in any order), text and structure; text nodes in a row count as one, empty ones
 * not at all. Offsets and parents are not looked at.
 */
export function equalTrees(a: AnyNode, b: AnyNode): boolean {
  if (a === b) return true
  if ('parentNode' in a && 'parentNode' in b) return equalNodes([a], [b])
  return a.nodeName === b.nodeName && 'childNodes' in a && 'childNodes' in b && equalNodes(a.childNodes, b.childNodes)
}

/** `equalTrees` for lists of siblings. */
export function equalNodes(a: ChildNode[], b: ChildNode[]): boolean {
  return atOnce(comparing(a, b))
}

/** `equalNodes` in steps. */
export function* comparing(a: ChildNode[], b: ChildNode[]): Steps<boolean> {
  const lists: [ChildNode[], ChildNode[]][] = [[a, b]]
  let compared = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    const [as, bs] = list
    for (let i = 0, j = 0; ; ) {
      if (++compared % NODES_PER_STEP === 0) yield
      let left = ''
      for (let node = as[i]; node && isText(node); node = as[++i]) left += node.value
      let right = ''
      for (let node = bs[j]; node && isText(node); node = bs[++j]) right += node.value
      if (left.length !== right.length) return false
      if (left.length > LONG) {
        yield* puttingInOnePiece(left)
        yield* puttingInOnePiece(right)
      }
      if (left !== right) return false
      const x = as[i++]
      const y = bs[j++]
      if (!x || !y) {
        if (x !== y) return false
        break
      }
      if (x === y) continue
      yield* puttingValuesInOnePiece(x)
      yield* puttingValuesInOnePiece(y)
      if (!equalAlone(x, y)) return false
      if (!isElement(x) || !isElement(y)) continue
      lists.push([x.childNodes, y.childNodes])
      if (x.content || y.content) lists.push([x.content?.childNodes ?? [], y.content?.childNodes ?? []])
    }
  }
  return true
}

/** The parser may have left a long value as thousands of pieces, which a comparison would put together at once. */
function* puttingValuesInOnePiece(node: ChildNode): Steps<void> {
  if (!isElement(node)) return
  for (const { value } of node.attrs) if (value.length > LONG) yield* puttingInOnePiece(value)
}

/** Whether two nodes are equal but for what is below them. */
function equalAlone(a: ChildNode, b: ChildNode): boolean {
  if (isElement(a))
    return (
      isElement(b) && a.tagName === b.tagName && a.namespaceURI === b.namespaceURI && equalAttributes(a.attrs, b.attrs)
    )
  if (isElement(b)) return false
  switch (a.nodeName) {
    case '#text':
      return b.nodeName === '#text' && a.value === b.value
    case '#comment':
      return b.nodeName === '#comment' && a.data === b.data
    case '#instruction':
      return b.nodeName === '#instruction' && a.target === b.target && a.data === b.data
    case '#documentType':
      return (
        b.nodeName === '#documentType' && a.name === b.name && a.publicId === b.publicId && a.systemId === b.systemId
      )
  }
}

function equalAttributes(a: Attribute[], b: Attribute[]): boolean {
  if (a.length !== b.length) return false
  if (a.every((x, i) => equalAttribute(x, b[i]))) return true
  const key = (x: Attribute): string => JSON.stringify([x.namespace ?? '', x.prefix ?? '', x.name, x.value])
  const keys = new Set(b.map(key))
  return a.every(x => keys.has(key(x)))
}

function equalAttribute(a: Attribute, b: Attribute | undefined): boolean {
  return (
    b !== undefined &&
    a.name === b.name &&
    a.value === b.value &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.prefix ?? '') === (b.prefix ?? '')
  )
}
