/** How large the state machine of a regular expression becomes, told before it is built. */

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
