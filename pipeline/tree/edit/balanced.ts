/** Markup that everybody reads alike who reads its tags one by one, without a tree. */

import { asciiLower } from '../ascii.ts'
import { isVoidName } from '../serialize-html.ts'
import { NODES_PER_STEP, type Steps } from '../steps.ts'

/** A tag without `<` and `>` in it: its quotes are those of values, so that it ends for everybody where it does here. */
const TAG = /<(\/?)([a-z][a-z\d-]*)(?:[\t\n\f\r /][^<>"'=]*(?:=(?:"[^"<>]*"|'[^'<>]*')?[^<>"'=]*)*)?>/iy

/** A comment that ends for everybody where it does here. */
const COMMENT = /<!--[^<>-]*-->/y

/** What stands in them is text, or other markup. */
const OTHER = new Set(
  `svg math select script style textarea title xmp iframe noembed noframes noscript plaintext template
  html head body frameset`.split(/[\n ]+/),
)

/** Whether a text has tags of HTML alone in which there is HTML, and end tags for nothing but elements that it begins; in steps. */
export function* isBalanced(text: string): Steps<boolean> {
  const open: string[] = []
  const counts = new Map<string, number>()
  let seen = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (++seen % NODES_PER_STEP === 0) yield
    COMMENT.lastIndex = at
    if (COMMENT.test(text)) {
      at = COMMENT.lastIndex
      continue
    }
    TAG.lastIndex = at
    const [tag = '', slash, written = ''] = TAG.exec(text) ?? []
    const name = asciiLower(written)
    if (tag === '' || OTHER.has(name)) return false
    at += tag.length
    if (slash === '') {
      if (isVoidName(name)) continue
      open.push(name)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      continue
    }
    if (!counts.get(name)) return false
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      counts.set(last, (counts.get(last) ?? 1) - 1)
      if (last === name) break
    }
  }
  return true
}
