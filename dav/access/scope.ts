/** What a credential opens: path patterns, and whether it may write (DAV-3, authorization.md section 16). */

import { compilePattern, matchesPath, type Pattern } from '../../pipeline/access/glob.ts'

export interface Scope {
  /** Everything is open, so nothing needs to be looked at. */
  readonly whole: boolean
  readonly write: boolean
  /** What is written may configure the site (SEC-10). */
  readonly configure: boolean
  /** Whether a path is open. */
  covers(path: string): boolean
  /** Whether everything below a collection is open; false may also mean that it cannot be told from the patterns alone. */
  coversBelow(collection: string): boolean
  /** Whether something open may lie below a collection, so that clients have to walk through it. */
  leads(collection: string): boolean
}

/** A pattern that is nothing but literal text and a star behind it. */
const PREFIX = /^([^*?[\]{}\\!@+()|]+)\*+$/

/**
 * @param patterns globs in which `*` crosses `/`; what ends in a slash and a star also opens the bare name
 * @param configure when missing, whoever has the whole site may configure it
 */
export function createScope(patterns: readonly string[], write: boolean, configure?: boolean): Scope {
  const compiled = patterns.map(pattern => compilePattern(pattern))
  const below = patterns.flatMap(pattern => PREFIX.exec(pattern)?.[1] ?? [])
  const whole = patterns.some(pattern => pattern === '/*' || pattern === '/**')
  return {
    whole,
    write,
    configure: configure ?? whole,
    covers: path => whole || compiled.some(pattern => opens(pattern, path)),
    coversBelow: collection => whole || below.some(text => collection.startsWith(text)),
    leads: collection => whole || compiled.some(pattern => reaches(pattern, collection)),
  }
}

/** A collection is known with and without its slash. */
function opens(pattern: Pattern, path: string): boolean {
  return (
    matchesPath(pattern, path) || (path.length > 1 && path.endsWith('/') && matchesPath(pattern, path.slice(0, -1)))
  )
}

function reaches(pattern: Pattern, collection: string): boolean {
  return pattern.heads.some(({ text, whole }) => text.startsWith(collection) || (!whole && collection.startsWith(text)))
}
