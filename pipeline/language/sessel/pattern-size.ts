/** How large the state machine of a regular expression becomes, and what it takes to build it, told before. */

const COUNTED = /\{(\d+)(?:,(\d*))?\}/y
const ESCAPE = /\\(?:Q[\s\S]*?(?:\\E|$)|[pPx]\{[^}]*\}|[\s\S]|$)/y
/** A bracket expression; one without an end is no pattern. */
const SET = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[\s\S]|[^\]\\])*\]?/y

/**
 * @param pattern of RE2, or what shall be one
 * @returns states of its machine, rather too many than too few; takes time in proportion to the pattern
 */
export function patternSize(pattern: string): number {
  /** States of the groups that are open. */
  const groups = [0]
  /** States of what a repetition would repeat. */
  let last = 0
  const add = (size: number) => groups.push((groups.pop() ?? 0) + size)
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at)
    const long = character === '{' ? COUNTED : character === '[' ? SET : character === '\\' ? ESCAPE : undefined
    if (long) long.lastIndex = at
    const found = long?.exec(pattern)
    at += found?.[0].length || 1
    if (found && long === COUNTED) {
      const [, least = '0', most = least] = found
      const times = Math.max(Number(least), Number(most)) + 1
      add(last * (times - 1) + times)
      last = (last + 1) * times
    } else if (character === '(') groups.push(0)
    else if (character === ')') {
      last = (groups.length > 1 ? (groups.pop() ?? 0) : 0) + 3
      add(last)
    } else if (character === '*' || character === '+' || character === '?') {
      last += 2
      add(2)
    } else {
      last = found?.[0].startsWith('\\Q') ? found[0].length : character === '|' ? 2 : 1
      add(last)
    }
  }
  return groups.reduce((sum, each) => sum + each, 3)
}

/** The last character that has another case; ranges are folded one character after the other up to it. */
const LAST_FOLDED = 0x1e943

/** Characters that take as long as a class by its name (`\pL`), which is some hundred ranges. */
const NAMED_CLASS = 4_000

/** @returns characters that are folded, or as many as take as long; rather too many than too few */
export function classWork(pattern: string): number {
  let work = NAMED_CLASS * (pattern.match(/\\p/gi)?.length ?? 0)
  // Without a flag letters count as they are.
  if (!pattern.includes('[') || !pattern.includes('(?')) return work
  // What ends an escape before a hyphen is ASCII, and so little of a range that it counts for the character itself.
  for (const [, first = '', hex, last = ''] of pattern.matchAll(/(?<=([\s\S]))-(?=\\x\{([\da-f]+)\}|([\s\S]))/giu)) {
    const end = hex === undefined ? (last === '\\' ? 0xff : (last.codePointAt(0) ?? 0)) : Number.parseInt(hex, 16)
    work += Math.max(0, Math.min(end, LAST_FOLDED) - (first.codePointAt(0) ?? 0))
  }
  return work
}
