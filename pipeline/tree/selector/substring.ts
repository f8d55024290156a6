/** Substring search in linear time for any pattern. */

import { atOnce, type Steps } from '../steps.ts'

/** Up to this size the naive search of the engine cannot do harm. */
const SHORT = { pattern: 16, text: 2048 }

/** UTF-16 code units that are looked at, and parts that are made, in one step. */
const PER_STEP = { text: 32 * 1024, parts: 4 * 1024 }

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
    // A long pattern is not gone through for a short text.
    if (pattern.length > text.length) return false
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
  atOnce(eachOccurrence(pattern, text, at => places.push(at)))
  return places
}

/** @param found is told of each place; the search ends where it says `true` */
function* eachOccurrence(pattern: string, text: string, found: (at: number) => unknown): Steps<void> {
  if (pattern.length > text.length) return
  const borders = yield* makingBorders(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    if (at % PER_STEP.text === PER_STEP.text - 1) yield
    const code = text.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (pattern.charCodeAt(matched) === code) matched++
    if (matched === pattern.length) {
      if (found(at + 1 - pattern.length) === true) return
      matched = borders[matched - 1] ?? 0
    }
  }
}

/** What a `finder` says of a text, in steps. */
export function* containing(text: string, pattern: string): Steps<boolean> {
  if (pattern.length <= SHORT.pattern || text.length <= SHORT.text) return text.includes(pattern)
  let isFound = false
  yield* eachOccurrence(pattern, text, () => (isFound = true))
  return isFound
}

/**
 * @param separator not empty
 * @returns what `text.split(separator)` does, in linear time
 */
export function parted(text: string, separator: string): string[] {
  if (separator.length <= SHORT.pattern || text.length <= SHORT.text) return text.split(separator)
  return atOnce(parting(text, separator, () => undefined))
}

/**
 * `parted` in steps.
 *
 * @param counted is told of parts that were made
 */
export function* parting(text: string, separator: string, counted: (parts: number) => void): Steps<string[]> {
  const parts: string[] = []
  let end = 0
  const part = (at: number) => {
    if (at < end) return
    parts.push(text.slice(end, at))
    end = at + separator.length
    if (parts.length % PER_STEP.parts === 0) counted(PER_STEP.parts)
  }
  if (separator.length <= SHORT.pattern) {
    for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, end)) {
      part(at)
      if (parts.length % PER_STEP.parts === 0) yield
    }
  } else yield* eachOccurrence(separator, text, part)
  parts.push(text.slice(end))
  counted(parts.length % PER_STEP.parts)
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
  const looking = eachOccurrence(pattern, text, at => {
    place = at
    return which === 'first'
  })
  atOnce(looking)
  return place
}

/** For every prefix of the pattern the length of its longest proper prefix that is also its suffix. */
function bordersOf(pattern: string): Uint32Array {
  return atOnce(makingBorders(pattern))
}

function* makingBorders(pattern: string): Steps<Uint32Array> {
  const borders = new Uint32Array(pattern.length)
  let matched = 0
  for (let at = 1; at < pattern.length; at++) {
    if (at % PER_STEP.text === 0) yield
    const code = pattern.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0
    if (pattern.charCodeAt(matched) === code) matched++
    borders[at] = matched
  }
  return borders
}
