/**
 * What reaches beyond its place although the tree hardly shows it: a second `<body>` gives the first one its attributes,
 * `<frameset>` may replace the body. Documents that have such things are edited as wholes.
 */

import { type ChildNode, isElement, rootElement, type TreeDocument } from '../../tree/nodes.ts'
import { contentOf, isLiteral } from './shape.ts'

const SHELL = /<(\/?(?:html|head|body|frameset|frame))(?=[\t\n\f\r />])/gi

/** Whether a text that comes into a document may hold such a tag. */
export function mayStray(text: string): boolean {
  return text.search(SHELL) >= 0
}

/** Whether an HTML document holds a shell tag that is not the one of its element. */
export function hasStray(document: TreeDocument): boolean {
  return !eachOnce(document) && between(document)
}

/** Whether the only such tags are those of the shell's elements, told by their number. */
function eachOnce(document: TreeDocument): boolean {
  const root = rootElement(document)
  const expected = new Set<string>()
  for (const element of root ? [root, ...root.childNodes.filter(isElement)] : []) {
    const { tagName } = element
    if (element.sourceCodeLocation) expected.add(tagName)
    expected.add(`/${tagName}`)
  }
  for (const [, tag = ''] of document.source.matchAll(SHELL)) {
    if (!expected.delete(tag.toLowerCase())) return false
  }
  return true
}

/** Looks only where tags would be tags: outside comments, scripts and attribute values. */
function between(document: TreeDocument): boolean {
  const ends = new Set<string>()
  let cursor = 0
  let stray = false
  const pass = (to: number): void => {
    for (const [, tag = ''] of document.source.slice(cursor, Math.max(cursor, to)).matchAll(SHELL)) {
      const name = tag.toLowerCase()
      if (!name.startsWith('/') || ends.has(name)) stray = true
      ends.add(name)
    }
    cursor = Math.max(cursor, to)
  }
  const walk = (nodes: ChildNode[]): void => {
    for (const node of nodes) {
      const place = node.sourceCodeLocation
      if (isElement(node)) {
        if (place) {
          pass(place.startOffset)
          cursor = place.startTag?.endOffset ?? cursor
        }
        if (!isLiteral(node)) walk(contentOf(node).childNodes)
        const end = place?.endTag
        if (end && node.tagName !== 'body' && node.tagName !== 'html') {
          if (!isLiteral(node)) pass(end.startOffset)
          cursor = end.endOffset
        } else if (place && isLiteral(node)) cursor = place.endOffset
      } else if (node.nodeName !== '#text' && place) {
        pass(place.startOffset)
        cursor = place.endOffset
      }
    }
  }
  walk(document.root.childNodes)
  pass(document.source.length)
  return stray
}
