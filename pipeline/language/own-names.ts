/** Names with a prefix in markup that code makes of text: what does not stand in the code is data (COMP-145). */

import { asciiLower } from '../tree/ascii.ts'
import { LONGEST_NAME } from '../tree/limits.ts'
import { elementAlone } from '../tree/nodes.ts'

/** Where no prefix means anything: what counts as a copy of it is data. */
export const NOWHERE = elementAlone('div')

/** What no name goes on at in the source of code: in `p:${name}` only the beginning of one stands there. */
const AROUND = /[\s<>"'`/=:(){}[\],;$+\\]/

/** Characters of a name of which no more than the beginning stands in the code. */
const MOST_BEGUN = 128

/** Names, and beginnings of names, with a prefix that stand in the source of code, in any case. */
export class OwnNames {
  readonly #source: string
  #begun: Set<string> | undefined

  constructor(source: string) {
    this.#source = source
  }

  /** Whether a name stands there, or its beginning up to the colon or further. */
  has(name: string): boolean {
    this.#begun ??= namesIn(asciiLower(this.#source))
    const folded = asciiLower(name)
    if (this.#begun.has(folded)) return true
    for (let end = folded.indexOf(':') + 1; end <= Math.min(folded.length, MOST_BEGUN); end++)
      if (this.#begun.has(folded.slice(0, end))) return true
    return false
  }
}

function namesIn(source: string): Set<string> {
  const names = new Set<string>()
  for (let at = source.indexOf(':'); at >= 0; at = source.indexOf(':', at + 1)) {
    let [start, end] = [at, at + 1]
    while (start > 0 && at - start < LONGEST_NAME && !AROUND.test(source.charAt(start - 1))) start--
    while (end < source.length && end - at < LONGEST_NAME && !AROUND.test(source.charAt(end))) end++
    const name = source.slice(start, end)
    if (
      start < at &&
      !BEHIND_LABEL.test(source.slice(at + 1, end + 1)) &&
      !SELECTED.test(name) &&
      !isKey(source, start)
    )
      names.add(name)
  }
  return names
}

/** Behind `{ p: 1 }` no name goes on; nor in `e:{`, `e:for(;;)` and `x?p:[1]`, where none of markup would. */
const BEHIND_LABEL = /^\s|[({[]$/

/** In selectors, as of the first `p`: there is no such directive, and an element of that name fails a page (COMP-14). */
const SELECTED = /:(?:(?:first|last|only)-(?:child|of-type)|first-l(?:ine|etter)|hover)(?![\w-])/

/** What stands before keys of `{p:1,e:x}`, labels and choices (`case p:`, `x? p:e`, `x?y=p:e`), of which short scripts are full. */
const BEFORE_KEY = /[{,;?=+>&|*^~!-]$|[?=&|!+]new$|\b(?:case|typeof|void|await|instanceof|in|delete|yield)$/

/** The same where nothing is between: a value such as `100%` may stand before an attribute. */
const BESIDE_KEY = /[)%]$|[^<]\/$/

/** Characters of the longest of these words, and the one before it. */
const LOOKED_BACK = 11

/** Whether what begins there is no name in markup. */
function isKey(source: string, start: number): boolean {
  let before = start
  while (before > 0 && /\s/.test(source.charAt(before - 1))) before--
  return (
    BESIDE_KEY.test(source.slice(Math.max(0, start - 2), start)) ||
    BEFORE_KEY.test(source.slice(Math.max(0, before - LOOKED_BACK), before))
  )
}
