/**
 * What reaches beyond its place although the tree hardly shows it: a second `<body>` gives the first one its attributes,
 * `<frameset>` may replace the body. Documents that have such things are edited as wholes.
 */

import { asciiLower } from '../ascii.ts'
import { isElement, rootElement, type TreeDocument } from '../nodes.ts'
import type { Steps } from '../steps.ts'
import { betweenTags } from './between.ts'

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
    if (!expected.delete(asciiLower(tag))) return false
  }
  return true
}

/** Looks only where tags would be tags: outside comments, scripts and attribute values. */
function* findingBetween({ root, source }: TreeDocument): Steps<boolean> {
  const ends = new Set<string>()
  let stray = false
  yield* betweenTags(root.childNodes, source, text => {
    for (const [, tag = ''] of text.matchAll(SHELL)) {
      const name = asciiLower(tag)
      if (!name.startsWith('/') || ends.has(name)) stray = true
      ends.add(name)
    }
  })
  return stray
}
