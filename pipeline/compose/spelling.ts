/** How names were spelt in the source: HTML's parser gives them in lower case (COMP-9). */

import type { ElementNode } from '../tree/nodes.ts'

const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?/g

/**
 * Names of an element and its attributes as they stand in its start tag, by their lower-case form.
 *
 * @param text that the offsets of the element count in; without it names are as they are in the tree
 */
export function spellings(element: ElementNode, text: string | undefined): ReadonlyMap<string, string> {
  const tag = element.sourceCodeLocation?.startTag
  const names = new Map<string, string>()
  if (!tag || text === undefined) return names
  for (const [, name = ''] of text.slice(tag.startOffset + 1, tag.endOffset - 1).matchAll(ATTRIBUTE)) {
    const lower = name.toLowerCase()
    if (!names.has(lower)) names.set(lower, name)
  }
  return names
}

/** The part behind the colon, as it was spelt. */
export function spelledLocal(written: string, spelled: ReadonlyMap<string, string>): string {
  const name = spelled.get(written.toLowerCase()) ?? written
  return name.slice(name.indexOf(':') + 1)
}
