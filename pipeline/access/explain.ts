/** Why a request would be allowed or refused (SEC-5): the rules that matched, and what came of them. */

import { type Access, applies, type Decision, type Key, type PermitOptions, type Tier } from './decision.ts'
import type { Actor } from './rules.ts'

export interface ExplainedRule {
  /** Path of the document that holds the rule, and the rule's place among those of the document. */
  document: string
  order: number
  action: 'Allow' | 'Deny'
  tier: Tier
  /** Actor values of the rule, as written as far as they are literal. */
  actors: string[]
  /** Patterns as written. */
  resources: string[]
  methods: string[]
  /** Text after lookups; missing for a resource-level rule. */
  selector?: string
  /** Whether the rule counts for the element; a resource-level rule always does. */
  applies: boolean
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
  const rules = matching.map(match => {
    const { rule, tier, scope } = match
    return {
      document: rule.document,
      order: rule.order,
      action: rule.allow ? ('Allow' as const) : ('Deny' as const),
      tier,
      actors: rule.actors.map(actorText),
      resources: rule.patterns.map(pattern => pattern.source),
      methods: [...rule.methods],
      ...(scope ? { selector: scope.text } : {}),
      applies: applies(match, key),
    }
  })
  rules.sort((a, b) => b.tier - a.tier || a.document.localeCompare(b.document, 'en') || a.order - b.order)
  return {
    method,
    path,
    decision: access.decide(method, path, key),
    permitted: access.permit(method, path, key, options),
    rules,
  }
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
      return actor.parts.map(part => (typeof part === 'string' ? part : `\${${part.lookup}}`)).join('')
  }
}
