/**
 * What a requester may do on a path, for OPTIONS (CAP-1 to CAP-8, HTTP-121): from rules, requester and default-GET alone.
 * No document is read and no selector is evaluated against one.
 */

import { parseSelector } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import type { Access } from './decision.ts'
import { describedBy } from './described.ts'
import { type MatchingRule, resolve } from './matching.ts'
import { collapse, ELEMENT_METHODS } from './rules.ts'

/** One part of the 207 answer; the first has no selector and stands for the document. */
export interface CapabilityPart {
  selector?: string
  /** Methods in the order of `Allow`, `OPTIONS` last. */
  allow: string[]
}

const ORDER = ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'MOVE', 'PATCH']
const TOKEN = /^[!#$%&'+.^_`|~0-9A-Z-]+$/

/** `Allow` of a plain OPTIONS: the document's methods and those that rules grant on some elements (CAP-4). */
export function allMethods(access: Access, path: string): string[] {
  const rules = rulesOn(access, path)
  const methods = documentSet(access, rules)
  for (const own of rules.scoped.values()) for (const method of ownMethods(access, rules, own)) methods.add(method)
  return sorted(methods)
}

/**
 * `Allow` of an element of which only this is known: it matches a selector (CAP-5, CAP-6).
 *
 * @param selector as sent; one that does not parse implies nothing
 */
export function* selectorMethods(access: Access, path: string, selector: string): Steps<string[]> {
  const text = collapse(selector)
  const parsed = parseSelector(text, access.rules.extensions)
  const implied = parsed ? describedBy(parsed) : () => false
  const rules = rulesOn(access, path)
  const own: MatchingRule[] = []
  for (const [written, scoped] of rules.scoped) {
    const [first] = scoped
    yield
    if (written !== text && !(first?.scope && implied(first.scope, first.rule.selector?.needs))) continue
    for (const rule of scoped) own.push(rule)
  }
  return sorted(elementSet(access, rules, own))
}

/**
 * The parts of the 207 answer (CAP-7, CAP-8).
 *
 * @returns undefined when no rule for elements covers the path, whoever it is for: the answer is 204
 */
export function capabilityParts(access: Access, path: string): CapabilityPart[] | undefined {
  if (!access.hasScopedRules(path)) return undefined
  const rules = rulesOn(access, path)
  const parts: CapabilityPart[] = [{ allow: sorted(documentSet(access, rules)) }]
  for (const [selector, own] of rules.scoped) parts.push({ selector, allow: sorted(ownMethods(access, rules, own)) })
  return parts
}

/** The rules for a requester and path. */
interface RulesOnPath {
  whole: readonly MatchingRule[]
  /** Those for elements by their selector, in order of document path and place (CAP-8). */
  scoped: ReadonlyMap<string, readonly MatchingRule[]>
  /** What decides among `whole`. */
  strongest: Strongest
}

/** What decides among some rules, by each method that one of them names: no method needs all rules looked at (SEC-12). */
type Strongest = ReadonlyMap<string, MatchingRule>

function rulesOn(access: Access, path: string): RulesOnPath {
  const all = [...access.matching(undefined, path)].sort(({ rule: a }, { rule: b }) =>
    a.document < b.document ? -1 : a.document > b.document ? 1 : a.order - b.order,
  )
  const scoped = new Map<string, MatchingRule[]>()
  for (const match of all) {
    if (!match.scope) continue
    const alike = scoped.get(match.scope.text)
    if (alike) alike.push(match)
    else scoped.set(match.scope.text, [match])
  }
  const whole = all.filter(({ scope }) => !scope)
  return { whole, scoped, strongest: strongestOf(whole) }
}

function strongestOf(rules: readonly MatchingRule[]): Strongest {
  const strongest = new Map<string, MatchingRule>()
  for (const match of rules) {
    for (const method of match.rule.methods) {
      const known = strongest.get(method)
      if (known && (match.tier < known.tier || (match.tier === known.tier && match.rule.allow))) continue
      strongest.set(method, match)
    }
  }
  return strongest
}

function documentSet(access: Access, { whole, strongest }: RulesOnPath): Set<string> {
  return permittedOf(access, [strongest], new Set([...ORDER, ...namedMethods(whole)]))
}

/** What is permitted on an element for which, of the rules for elements, these count. */
function elementSet(access: Access, rules: RulesOnPath, own: readonly MatchingRule[]): Set<string> {
  const methods = new Set([...ELEMENT_METHODS, ...namedMethods(rules.whole), ...namedMethods(own)])
  methods.delete('MOVE')
  methods.delete('PATCH')
  return permittedOf(access, [rules.strongest, strongestOf(own)], methods)
}

function permittedOf(access: Access, strongest: readonly Strongest[], methods: ReadonlySet<string>): Set<string> {
  const permitted = new Set<string>()
  for (const method of methods) {
    const names = method === 'HEAD' ? ['HEAD', 'GET', '*'] : [method, '*']
    const counting = strongest.flatMap(by => names.flatMap(name => by.get(name) ?? []))
    const decision = resolve(counting, () => true)
    const isRead = method === 'GET' || method === 'HEAD'
    if (decision === 'unmatched' ? isRead && access.settings.defaultGet === 'allow' : decision === 'allow')
      permitted.add(method)
  }
  return permitted
}

/** What rules with one selector grant beyond the document's own grants (CAP-8). */
function ownMethods(access: Access, rules: RulesOnPath, own: readonly MatchingRule[]): Set<string> {
  const granted = new Set(namedMethods(own))
  if (granted.has('GET')) granted.add('HEAD')
  granted.delete('MOVE')
  granted.delete('PATCH')
  return permittedOf(access, [rules.strongest, strongestOf(own)], granted)
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
