/** Lookups `${path}` in the fields of rules (LOOK-1 to LOOK-6): found in the text, and answered for a request. */

import type { Hole } from './glob-syntax.ts'
import type { Requester } from './principal.ts'

/** A piece of a field: text as written, or a lookup by its dotted path. */
export type Part = string | Hole

const LOOKUP = /\$\{([\p{L}\p{N}_.-]+)\}/gu
const LOOKUP_OR_USERNAME = /\$\{([\p{L}\p{N}_.-]+)\}|:username(?![\p{L}\p{N}_-])/gu

/**
 * Cuts a field at its lookups (LOOK-1).
 *
 * @param text the field's value
 * @param username whether `:username` inside a longer value counts too, as it does in `resource` and `selector`
 */
export function splitLookups(text: string, username: boolean): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of text.matchAll(username && text !== ':username' ? LOOKUP_OR_USERNAME : LOOKUP)) {
    if (match.index > from) parts.push(text.slice(from, match.index))
    parts.push({ lookup: shared(match[1] ?? 'request.auth.username') })
    from = match.index + match[0].length
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

/** Paths of lookups by themselves: many rules look up the same, and one string for all is found faster than a slice. */
const paths = new Map<string, string>()
const MOST_PATHS = 1_000

function shared(path: string): string {
  const known = paths.get(path)
  if (known !== undefined) return known
  if (paths.size >= MOST_PATHS) paths.clear()
  paths.set(path, path)
  return path
}

/** The text of a field that has no lookups, or undefined. */
export function plainText(parts: readonly Part[]): string | undefined {
  if (parts.length === 0) return ''
  const [text] = parts
  return parts.length === 1 && typeof text === 'string' ? text : undefined
}

/**
 * The value at a dotted path (LOOK-2, LOOK-3).
 *
 * @returns text; empty when the path finds nothing, a list or an object
 */
export function lookUp(path: string, { principal, facts }: Requester): string {
  const [head = '', rest] = cut(path)
  if (head === 'request' && rest !== undefined) return ofRequest(rest)
  if (head === 'username' && rest === undefined) return principal?.sub ?? ''
  if (path === 'method' || path === 'path' || head === 'query' || head === 'auth') return ofRequest(path)
  return ''

  function ofRequest(path: string): string {
    const [head, rest] = cut(path)
    if (rest === undefined) {
      if (head === 'method') return facts.method.toUpperCase()
      if (head === 'path') return facts.path
      return head === 'query_string' ? facts.queryString : ''
    }
    if (head === 'headers') return rest === rest.toLowerCase() ? (facts.headers(rest) ?? '') : ''
    if (head === 'query') return new URLSearchParams(facts.queryString).get(rest) ?? ''
    return head === 'auth' ? ofPrincipal(rest) : ''
  }

  function ofPrincipal(path: string): string {
    if (!principal) return ''
    if (path === 'sub' || path === 'username') return principal.sub
    if (path === 'email') return principal.email ?? ''
    if (path === 'name') return principal.name ?? ''
    const [head, rest] = cut(path)
    return head === 'claims' && rest !== undefined ? asText(within(principal.claims, rest)) : ''
  }
}

const LOOKED_UP = /^(?:username|(?:request\.)?(?:method|path|query\..+|auth\.(?:sub|username|email|name|claims\..+)))$/
const OF_REQUEST = /^request\.(?:query_string|headers\.[^\p{Lu}]+)$/u

/** Whether a dotted path may find something, in some request; `claims` hold what a provider tells. */
export function isLookup(path: string): boolean {
  return LOOKED_UP.test(path) || OF_REQUEST.test(path)
}

const OF_PRINCIPAL = /^(?:username$|(?:request\.)?auth\.)/

/** Whether what a dotted path finds is said of who has signed in. */
export function isOfPrincipal(path: string): boolean {
  return OF_PRINCIPAL.test(path)
}

function cut(path: string): [string, string | undefined] {
  const dot = path.indexOf('.')
  return dot < 0 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)]
}

function within(value: unknown, path: string): unknown {
  let found = value
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined
    if (!Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** Of whole numbers that are too large to be told apart, none is anybody's: JSON gives several of them as one. */
function asText(value: unknown): string {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return ''
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
