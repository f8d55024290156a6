/**
 * Resource patterns (PATH-1 to PATH-6): the glob language of rules, matched against decoded paths.
 *
 * `*` crosses `/`. Looked-up values enter as literal tokens, never as text, so that no value can act as a pattern. Paths
 * are in NFC, so text and values are brought to it: a name typed on another keyboard is the same name.
 */

import { normalForm } from '../tree/normal-form.ts'
import { type Matcher, matcher, matchesText } from './glob-match.ts'
import { type Hole, isClass, isHole, merge, parsePattern, RUN, type Token } from './glob-syntax.ts'

export type { Hole } from './glob-syntax.ts'

export interface Pattern {
  /** The pattern as its author wrote it, for people. */
  readonly source: string
  /** False when the text did not compile and is compared as it is (PATH-6). */
  readonly compiled: boolean
  /** The alternatives, kept only where holes are to be filled. */
  readonly open: readonly Alternative[] | undefined
  /** Of a pattern with holes: what matches whatever it may match for any values in them. */
  readonly loose: readonly Matcher[] | undefined
  readonly matchers: readonly Matcher[]
  /** Literal text that every match begins with, for each alternative; `whole` when it is all there is. */
  readonly heads: readonly { text: string; whole: boolean }[]
}

interface Alternative {
  readonly tokens: readonly Token[]
  /** The name before a final slash and run (PATH-3). */
  readonly bare?: true
}

/**
 * Compiles a pattern.
 *
 * @param pattern text as written, or its parts with holes for looked-up values
 * @returns a pattern; one with holes matches nothing until `fillPattern` has filled them
 */
export function compilePattern(pattern: string | readonly (string | Hole)[]): Pattern {
  const parts = typeof pattern === 'string' ? [pattern] : pattern
  const source = parts.map(part => (typeof part === 'string' ? part : `\${${part.lookup}}`)).join('')
  const composed = parts.map(part => (typeof part === 'string' ? normalForm(part) : part))
  const parsed = source.includes('{{') ? undefined : parsePattern(composed)
  const alternatives = parsed ? parsed.flatMap(withBareName) : [{ tokens: merge(composed) }]
  const open = alternatives.some(({ tokens }) => tokens.some(t => isHole(t) || (isClass(t) && t.holes.length > 0)))
  return {
    source,
    compiled: parsed !== undefined,
    open: open ? alternatives : undefined,
    loose: open ? alternatives.map(({ tokens }) => matcher(merge(tokens.map(loosened)))) : undefined,
    matchers: open ? [] : alternatives.map(({ tokens }) => matcher(tokens)),
    heads: alternatives.map(({ tokens }) => {
      const text = tokens[0]
      return typeof text === 'string' ? { text, whole: tokens.length === 1 } : { text: '', whole: tokens.length === 0 }
    }),
  }
}

/** What ends in a slash and a run also matches the bare name before that slash (PATH-3). */
function withBareName(tokens: Token[]): Alternative[] {
  const before = tokens.at(-2)
  if (tokens.at(-1) !== RUN || typeof before !== 'string' || !before.endsWith('/')) return [{ tokens }]
  const bare = merge([...tokens.slice(0, -2), before.slice(0, -1)])
  return bare.length > 0 ? [{ tokens }, { tokens: bare, bare: true }] : [{ tokens }]
}

/**
 * Fills the holes of a pattern with literal text (LOOK-5).
 *
 * @param value gives the value of a lookup, the empty string where it finds nothing
 */
export function fillPattern(pattern: Pattern, value: (lookup: string) => string): Pattern {
  if (!pattern.open) return pattern
  const matchers = pattern.open.flatMap(({ tokens, bare }) => {
    const filled = merge(tokens.map(token => fill(token, value)))
    // A value that is empty or ends in a slash leaves no name there, but the directory that holds everybody's.
    return bare && endsInSlash(filled) ? [] : matcher(filled)
  })
  return { ...pattern, open: undefined, loose: undefined, matchers }
}

function endsInSlash(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)
  return typeof last === 'string' && last.endsWith('/')
}

/** Takes a hole for any run of characters, and a set with holes too. */
function loosened(token: Token): Token {
  return isHole(token) || (isClass(token) && token.holes.length > 0) ? RUN : token
}

function fill(token: Token, value: (lookup: string) => string): Token {
  if (isHole(token)) return normalForm(value(token.lookup))
  if (!isClass(token) || token.holes.length === 0) return token
  const ranges = [...token.ranges]
  for (const { lookup } of token.holes) {
    for (const character of normalForm(value(lookup))) {
      const point = character.codePointAt(0) ?? 0
      ranges.push(point, point)
    }
  }
  return { negated: token.negated, ranges, holes: [] }
}

/**
 * The names by which rules know a path (PATH-4): a directory and its index are one resource.
 *
 * @param path decoded, absolute
 */
export function pathNames(path: string): readonly string[] {
  if (path.endsWith('/')) return [path, `${path}index.html`]
  return path.endsWith('/index.html') ? [path, path.slice(0, -'index.html'.length)] : [path]
}

/** Whether a pattern matches one of the names of a path. */
export function matchesNames({ matchers }: Pattern, names: readonly string[]): boolean {
  return anyMatches(matchers, names)
}

/** Whether a pattern matches one of the names for some values in its holes; more often than it does. */
export function mayMatchNames({ matchers, loose = matchers }: Pattern, names: readonly string[]): boolean {
  return anyMatches(loose, names)
}

function anyMatches(matchers: readonly Matcher[], names: readonly string[]): boolean {
  for (const matcher of matchers) for (const name of names) if (matchesText(matcher, name)) return true
  return false
}

/**
 * Whether a pattern matches a path (PATH-1 to PATH-6).
 *
 * @param path decoded, absolute
 */
export function matchesPath(pattern: Pattern, path: string): boolean {
  return matchesNames(pattern, pathNames(path))
}

/** What an author may have taken a pattern for, where it matches hardly any path; paths are decoded and have no query. */
export function mistakenPattern(text: string): string | undefined {
  if (/^https?:\/\//i.test(text)) return 'is an address: paths begin with a slash'
  if (!/^[/*?[{\\$:]/.test(text)) return 'does not begin with a slash, as every path does'
  if (/[,;\s]\//.test(text.replace(/\{[^{}]*\}/g, ''))) return 'is one path: each stands in an element of its own'
  if (text.split('/').some(asksOfFile)) return 'has a query or fragment, which no path has'
  if (/%[0-9a-f]{2}/i.test(text)) return 'is compared with decoded paths: write the characters themselves'
  return undefined
}

/** Whether a part of a path, as of `page.html?id=1`, has a query or fragment behind the name of a file. */
function asksOfFile(part: string): boolean {
  const query = part.search(/\.(?:html?|xml)\?/i)
  return (query >= 0 && part.includes('=', query)) || /\.(?:html?|xml)#/i.test(part)
}
