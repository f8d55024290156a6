/**
 * What reaches beyond its place although the tree hardly shows it: a second `<body>` gives the first one its attributes,
 * `<frameset>` may replace the body. Documents that have such things are edited as wholes.
 */

import { type ChildNode, type ElementNode, isElement, rootElement, type TreeDocument } from '../nodes.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'
import { contentOf, isLiteral } from './shape.ts'

const SHELL = /<(\/?(?:html|head|body|frameset|frame))(?=[\t\n\f\r />])/gi

/** Whether a text that comes into a document may hold such a tag. */
export function mayStray(text: string): boolean {
  return text.search(SHELL) >= 0
}

/** Finds out, in steps, whether an HTML document holds a shell tag that is not the one of its element. */
export function* findingStray(document: TreeDocument): Steps<boolean> {
  return !eachOnce(document) && (yield* findingBetween(document))
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
function* findingBetween(document: TreeDocument): Steps<boolean> {
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
  const enter = ({ sourceCodeLocation: place }: ElementNode): void => {
    if (!place) return
    pass(place.startOffset)
    cursor = place.startTag?.endOffset ?? cursor
  }
  const leave = (element: ElementNode): void => {
    const place = element.sourceCodeLocation
    const end = place?.endTag
    if (end && element.tagName !== 'body' && element.tagName !== 'html') {
      if (!isLiteral(element)) pass(end.startOffset)
      cursor = end.endOffset
    } else if (place && isLiteral(element)) cursor = place.endOffset
  }
  const open: { nodes: readonly ChildNode[]; next: number; element?: ElementNode }[] = [
    { nodes: document.root.childNodes, next: 0 },
  ]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (++seen % NODES_PER_STEP === 0) yield
    if (!node) {
      open.pop()
      if (level.element) leave(level.element)
    } else if (isElement(node)) {
      enter(node)
      open.push({ nodes: isLiteral(node) ? [] : contentOf(node).childNodes, next: 0, element: node })
    } else if (node.nodeName !== '#text' && node.sourceCodeLocation) {
      pass(node.sourceCodeLocation.startOffset)
      cursor = node.sourceCodeLocation.endOffset
    }
  }
  pass(document.source.length)
  return stray
}
