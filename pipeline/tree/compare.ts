/** Whether two trees are the same document, whatever their sources: the judge of every edit. */

import { type AnyNode, type Attribute, type ChildNode, isElement, isText } from './nodes.ts'

/**
 * Compares names, namespaces, attributes (in any order), text and structure; text nodes in a row count as one, empty ones
 * not at all. Offsets and parents are not looked at.
 */
export function equalTrees(a: AnyNode, b: AnyNode): boolean {
  if (a === b) return true
  if (isElement(a)) {
    return (
      isElement(b) &&
      a.tagName === b.tagName &&
      a.namespaceURI === b.namespaceURI &&
      equalAttributes(a.attrs, b.attrs) &&
      equalNodes(a.childNodes, b.childNodes) &&
      equalNodes(a.content?.childNodes ?? [], b.content?.childNodes ?? [])
    )
  }
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
    default:
      return (
        a.nodeName === b.nodeName && 'childNodes' in a && 'childNodes' in b && equalNodes(a.childNodes, b.childNodes)
      )
  }
}

/** `equalTrees` for lists of siblings. */
export function equalNodes(a: ChildNode[], b: ChildNode[]): boolean {
  let i = 0
  let j = 0
  for (;;) {
    let left = ''
    for (let node = a[i]; node && isText(node); node = a[++i]) left += node.value
    let right = ''
    for (let node = b[j]; node && isText(node); node = b[++j]) right += node.value
    if (left !== right) return false
    const x = a[i++]
    const y = b[j++]
    if (!x || !y) return x === y
    if (!equalTrees(x, y)) return false
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
