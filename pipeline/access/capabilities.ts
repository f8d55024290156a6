/**
 * What a requester may do on a path, for OPTIONS (CAP-1 to CAP-8, HTTP-121): from rules, requester and default-GET alone.
 * No document is read and no selector is evaluated against one.
 */

import type { Access } from './decision.ts'
import { describedBy } from './described.ts'
import { type MatchingRule, resolve } from './matching.ts'
import { collapse, ELEMENT_METHODS, parseSelector } from './rules.ts'

/** One part of the 207 answer; the first has no selector and stands for the document. */
export interface CapabilityPart {
  selector?: string
  /** Methods in the order of `Allow`, `OPTIONS` last. */
  allow: string[]
}

const ORDER = ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'MOVE', 'PATCH']
const TOKEN = /^[!#$%&'+.^_`|~0-9A-Z-]+$/

/** `Allow` of the document as a whole (CAP-3). */
export function documentMethods(access: Access, path: string): string[] {
  return sorted(documentSet(access, path))
}

/** `Allow` of a plain OPTIONS: the document's methods and those that rules grant on some elements (CAP-4). */
export function allMethods(access: Access, path: string): string[] {
  const methods = documentSet(access, path)
  for (const text of selectorTexts(access, path)) {
    const named = ownMethods(access, path, text)
    for (const method of named) methods.add(method)
  }
  return sorted(methods)
}

/**
 * `Allow` of an element of which only this is known: it matches a selector (CAP-5, CAP-6).
 *
 * @param selector as sent; one that does not parse implies nothing
 */
export function selectorMethods(access: Access, path: string, selector: string): string[] {
  const text = collapse(selector)
  const parsed = parseSelector(text, access.rules.extensions)
  const implied = parsed ? describedBy(parsed) : () => false
  return sorted(
    elementSet(access, path, ({ scope }) => scope === undefined || scope.text === text || implied(scope.selector)),
  )
}

/**
 * The parts of the 207 answer (CAP-7, CAP-8).
 *
 * @returns undefined when no rule for elements covers the path, whoever it is for: the answer is 204
 */
export function capabilityParts(access: Access, path: string): CapabilityPart[] | undefined {
  if (!access.hasScopedRules(path)) return undefined
  const parts: CapabilityPart[] = [{ allow: documentMethods(access, path) }]
  for (const selector of selectorTexts(access, path)) {
    parts.push({ selector, allow: sorted(ownMethods(access, path, selector)) })
  }
  return parts
}

function documentSet(access: Access, path: string): Set<string> {
  const named = namedMethods(access.matching(undefined, path).filter(({ scope }) => !scope))
  return new Set([...ORDER, ...named].filter(method => access.permit(method, path)))
}

/** What is permitted on an element for which those rules count that are said to apply. */
function elementSet(access: Access, path: string, applies: (rule: MatchingRule) => boolean): Set<string> {
  const counting = access.matching(undefined, path).filter(applies)
  const methods = new Set([...ELEMENT_METHODS, ...namedMethods(counting)])
  methods.delete('MOVE')
  methods.delete('PATCH')
  return new Set(
    [...methods].filter(method => {
      const decision = resolve(access.matching(method, path), applies)
      if (decision !== 'unmatched') return decision === 'allow'
      return (method === 'GET' || method === 'HEAD') && access.settings.defaultGet === 'allow'
    }),
  )
}

/** What rules with one selector grant beyond the document's own grants (CAP-8). */
function ownMethods(access: Access, path: string, text: string): Set<string> {
  const permitted = elementSet(access, path, ({ scope }) => scope === undefined || scope.text === text)
  const granting = access.matching(undefined, path).filter(({ rule, scope }) => rule.allow && scope?.text === text)
  const granted = (method: string) => granting.some(({ rule }) => rule.methods.has(method))
  return new Set([...permitted].filter(method => granted(method) || (method === 'HEAD' && granted('GET'))))
}

/** Distinct selectors of the rules for this requester, in order of document path and place (CAP-8). */
function selectorTexts(access: Access, path: string): Set<string> {
  const scoped = access.matching(undefined, path).filter(({ scope }) => scope)
  const compare = ({ rule: a }: MatchingRule, { rule: b }: MatchingRule) =>
    a.document < b.document ? -1 : a.document > b.document ? 1 : a.order - b.order
  return new Set(scoped.sort(compare).flatMap(({ scope }) => scope?.text ?? []))
}

/** Methods that Allow rules name, as far as they are methods. */
function namedMethods(matching: readonly MatchingRule[]): string[] {
  return matching.flatMap(({ rule }) => (rule.allow ? [...rule.methods].filter(method => TOKEN.test(method)) : []))
}

function sorted(methods: ReadonlySet<string>): string[] {
  const others = [...methods].filter(method => !ORDER.includes(method) && method !== 'OPTIONS').sort()
  const first = others.includes('QUERY') ? ['QUERY'] : []
  const rest = others.filter(method => method !== 'QUERY')
  return [...ORDER.filter(method => methods.has(method)), ...first, ...rest, 'OPTIONS']
}
