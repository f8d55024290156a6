/** Why a request would be allowed or refused (SEC-5): the rules that matched, and what came of them. */

import type { Access, PermitOptions } from './decision.ts'
import { pathNames } from './glob.ts'
import type { Part } from './lookup.ts'
import { applies, coversMethod, type Decision, type Key, NOBODY, singleTest } from './matching.ts'
import { verifiedEmail } from './principal.ts'
import type { Actor, Rule, Tier } from './rules.ts'

/** A rule for people to read. */
export interface RuleText {
  /** Path of the document that holds the rule, and the rule's place among those of the document. */
  document: string
  order: number
  action: 'Allow' | 'Deny'
  /** Actor values of the rule, as written as far as they are literal. */
  actors: string[]
  /** Patterns as written. */
  resources: string[]
  methods: string[]
  /** Text after lookups, or as written where they leave no selector; missing for a resource-level rule. */
  selector?: string
}

export interface ExplainedRule extends RuleText {
  tier: Tier
  /** Whether the rule counts for the element; a resource-level rule always does. */
  applies: boolean
  /** It applies, and no rule of a higher tier does: the outcome is that of these rules. */
  decides: boolean
  /** By what the rule matches the requester, such as `the user name ann`. */
  why: string
}

export interface Explanation {
  method: string
  path: string
  decision: Decision
  /** With default-GET and session content taken into account. */
  permitted: boolean
  /** Rules for this requester, method and path, the strongest first. */
  rules: ExplainedRule[]
}

/**
 * Explains one question.
 *
 * @param key the element asked about; without it only resource-level rules apply
 */
export function explain(
  access: Access,
  method: string,
  path: string,
  key?: Key,
  options: PermitOptions = {},
): Explanation {
  const matching = access.matching(method, path)
  const test = singleTest()
  const applying = new Set(matching.filter(match => applies(match, key, test)))
  const deciding = [...applying].reduce((most, { tier }) => Math.max(most, tier), Number.NEGATIVE_INFINITY)
  const rules = matching.map(match => {
    const { rule, tier, scope } = match
    const counts = applying.has(match)
    const { selector: _, ...text } = textOf(rule)
    return {
      ...text,
      tier,
      ...(scope ? { selector: scope.text } : {}),
      applies: counts,
      decides: counts && tier === deciding,
      why: reasonOf(access, rule, tier),
    }
  })
  rules.sort(byWeight)
  return {
    method,
    path,
    decision: access.decide(method, path, key),
    permitted: access.permit(method, path, key, options),
    rules,
  }
}

/** A rule that one thing keeps from matching. */
export interface NearMiss extends RuleText {
  missing: 'actor' | 'method'
}

/**
 * Rules of one action that are for a path, but for other people or other methods: among them is often the one that was
 * meant to match.
 *
 * @param most of them that are given, in the order of documents
 */
export function nearMisses(access: Access, method: string, path: string, allow: boolean, most: number): NearMiss[] {
  const names = pathNames(path)
  const { applicability } = access
  const found = new Map<Rule, NearMiss>()
  for (const rules of access.rules.candidates(undefined, names)) {
    for (const rule of rules) {
      if (rule.allow !== allow || found.has(rule)) continue
      const isNamed = coversMethod(rule, method)
      const isMeant = applicability.tierOf(rule) !== NOBODY
      if (isNamed === isMeant || !applicability.coversPath(rule, names)) continue
      found.set(rule, { ...textOf(rule), missing: isNamed ? 'actor' : 'method' })
    }
  }
  return [...found.values()].sort(byPlace).slice(0, most)
}

function textOf(rule: Rule): RuleText {
  const { document, order, selector } = rule
  return {
    document,
    order,
    action: rule.allow ? 'Allow' : 'Deny',
    actors: rule.actors.map(actorText),
    resources: rule.patterns.map(pattern => pattern.source),
    methods: [...rule.methods],
    ...(selector && { selector: selector.text ?? selector.template.map(partText).join('') }),
  }
}

/** Highest tier first, and first of all what decides; a Deny before what it overrules. */
function byWeight(a: ExplainedRule, b: ExplainedRule): number {
  return (
    Number(b.decides) - Number(a.decides) ||
    b.tier - a.tier ||
    Number(a.action === 'Allow') - Number(b.action === 'Allow') ||
    byPlace(a, b)
  )
}

function byPlace(a: RuleText, b: RuleText): number {
  return a.document.localeCompare(b.document, 'en') || a.order - b.order
}

/** Why a rule is for the requester: by the first of its values that gives it its tier. */
function reasonOf(access: Access, { actors, allow }: Rule, tier: Tier): string {
  for (const actor of actors) {
    const reason = matched(access, actor, allow)
    if (reason?.tier === tier) return reason.text
  }
  return 'a value of the rule'
}

function matched(access: Access, actor: Actor, allow: boolean): { tier: Tier; text: string } | undefined {
  const { principal } = access.requester
  if (actor.form === 'everybody') return { tier: 0, text: 'everybody' }
  if (!principal) return undefined
  if (actor.form === 'signed-in') return { tier: actor.tier, text: 'everybody who is signed in' }
  const name = access.applicability.nameOf(actor)
  if (name === undefined || name === '') return undefined
  if (actor.form !== 'role') {
    if (name === principal.sub) return { tier: 3, text: `the user name ${name}` }
    if (name === verifiedEmail(principal)) return { tier: 1, text: `the verified email ${name}` }
  }
  if (principal.roles.includes(name)) return { tier: 1, text: `the role ${name}` }
  const group = access.rules.groupsNamed(name).find(candidate => access.membership.includes(candidate))
  if (group) return { tier: 1, text: `a member of the group ${name} in ${group.document}` }
  const open = access.membership.holds(name, access.rules) === undefined && !allow
  return open ? { tier: 1, text: `the group ${name}, which was not asked` } : undefined
}

function actorText(actor: Actor): string {
  switch (actor.form) {
    case 'everybody':
      return '*'
    case 'signed-in':
      return actor.tier === 2 ? ':username' : 'users'
    case 'role':
      return `role:${actor.name}`
    case 'name':
      return actor.name
    default:
      return actor.parts.map(partText).join('')
  }
}

function partText(part: Part): string {
  return typeof part === 'string' ? part : `\${${part.lookup}}`
}
