/** Substring search in linear time for any pattern. */

/** Up to this size the naive search of the engine cannot do harm. */
const SHORT = { pattern: 16, text: 2048 }

/**
 * @param pattern what to look for, not empty
 * @returns whether a text contains the pattern. `String.includes` takes 0.9 s for 8 KB of letters in 1 MB of letters; this
 *   never looks at a character more than twice (Knuth, Morris, Pratt).
 */
export function finder(pattern: string): (text: string) => boolean {
  if (pattern.length <= SHORT.pattern) return text => text.includes(pattern)
  let borders: Uint32Array | undefined
  return text => {
    if (text.length <= SHORT.text) return text.includes(pattern)
    borders ??= bordersOf(pattern)
    let matched = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      while (matched > 0 && pattern.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
      if (pattern.charCodeAt(matched) === code) matched++
      if (matched === pattern.length) return true
    }
    return false
  }
}

/**
 * @param pattern what to look for, not empty
 * @returns every place where it begins in the text, ascending, in linear time
 */
export function occurrences(pattern: string, text: string): number[] {
  const places: number[] = []
  if (pattern.length <= SHORT.pattern) {
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) places.push(at)
    return places
  }
  eachOccurrence(pattern, text, at => places.push(at))
  return places
}

function eachOccurrence(pattern: string, text: string, found: (at: number) => void): void {
  const borders = bordersOf(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (pattern.charCodeAt(matched) === code) matched++
    if (matched === pattern.length) {
      found(at + 1 - pattern.length)
      matched = borders[matched - 1] ?? 0
    }
  }
}

/**
 * @param separator not empty
 * @returns what `text.split(separator)` does, in linear time
 */
export function parted(text: string, separator: string): string[] {
  if (separator.length <= SHORT.pattern || text.length <= SHORT.text) return text.split(separator)
  const parts: string[] = []
  let end = 0
  eachOccurrence(separator, text, at => {
    if (at < end) return
    parts.push(text.slice(end, at))
    end = at + separator.length
  })
  parts.push(text.slice(end))
  return parts
}

/**
 * @param pattern not empty
 * @returns what `text.indexOf(pattern)` or `text.lastIndexOf(pattern)` does, in linear time
 */
export function placeOf(text: string, pattern: string, which: 'first' | 'last'): number {
  if (pattern.length <= SHORT.pattern || text.length <= SHORT.text)
    return which === 'first' ? text.indexOf(pattern) : text.lastIndexOf(pattern)
  let place = -1
  eachOccurrence(pattern, text, at => {
    if (which === 'last' || place < 0) place = at
  })
  return place
}

/** For every prefix of the pattern the length of its longest proper prefix that is also its suffix. */
function bordersOf(pattern: string): Uint32Array {
  const borders = new Uint32Array(pattern.length)
  let matched = 0
  for (let at = 1; at < pattern.length; at++) {
    const code = pattern.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (pattern.charCodeAt(matched) === code) matched++
    borders[at] = matched
  }
  return borders
}
