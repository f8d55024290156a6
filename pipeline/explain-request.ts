/** Why a request would be allowed or refused, asked of a site by its operator or author (SEC-5). */

import { Access } from './access/decision.ts'
import { type ExplainedRule, explain } from './access/explain.ts'
import { type GroupOracle, Membership } from './access/groups.ts'
import type { Decision, Key } from './access/matching.ts'
import { principalFromClaims, refusalStatus } from './access/principal.ts'
import { toSelector } from './decide.ts'
import { canonicalPath } from './http/path.ts'
import type { Site } from './site.ts'
import { selectFirst } from './tree/selector/selector.ts'

/** Who asks for what. */
export interface AccessQuestion {
  /** Upper case. */
  method: string
  /** Decoded path, with a query if it matters. */
  path: string
  selector?: string | undefined
  /** `sub` of the principal; undefined for an anonymous visitor. */
  user?: string | undefined
  /** Verified email. */
  email?: string | undefined
  roles: readonly string[]
}

/** One rule that took part in a decision. */
export interface AccessRule {
  /** Path of the document that holds the rule. */
  document: string
  action: 'Allow' | 'Deny'
  /** Specificity of the actor that matched; 3 is the most specific. */
  tier: number
  actor: string
  resource: string
  method: string
  selector?: string
  /** By what it matches the requester, and what that means for the outcome. */
  why: string
}

export interface AccessAnswer {
  allowed: boolean
  /** Status that a refusal would be answered with. */
  status?: number
  /** One sentence: which tier, which rule or which setting decided. */
  reason: string
  /** Rules for this requester, method and path, the most specific first. */
  rules: AccessRule[]
}

/**
 * @param groups answers for groups that decide membership by themselves
 * @throws Fault 422 for a selector that does not parse
 */
export async function explainRequest(
  site: Site,
  question: AccessQuestion,
  groups?: GroupOracle,
): Promise<AccessAnswer> {
  const { method, user, email, roles } = question
  const [path = '', queryString = ''] = question.path.split('?', 2)
  const claims = { sub: user, ...(email !== undefined && { email, email_verified: true }) }
  const principal = user === undefined ? undefined : principalFromClaims(claims, [...roles])
  const facts = { method, path, headers: () => undefined, queryString }
  const membership = new Membership(principal, groups)
  const access = new Access(site.rules, { facts, ...(principal && { principal }) }, site.settings, membership)
  await access.settle([path, canonicalPath(path)])
  const { selector } = question
  const key = await keyOf(site, path, selector)
  const found = explain(access, method, path, key)
  return {
    allowed: found.permitted,
    ...(!found.permitted && { status: refusalStatus(principal) }),
    reason: reasonOf(found.decision, found.permitted, method) + missing(selector, key),
    rules: found.rules.map(rule => ({
      document: rule.document,
      action: rule.action,
      tier: rule.tier,
      actor: rule.actors.join(', '),
      resource: rule.resources.join(', '),
      method: rule.methods.join(', '),
      ...(rule.selector !== undefined && { selector: rule.selector }),
      why: `${rule.why}; ${consequence(rule, found.decision)}`,
    })),
  }
}

/** A name for the requester of a question. */
export function requesterOf({ user, email, roles }: Pick<AccessQuestion, 'user' | 'email' | 'roles'>): string {
  if (user === undefined) return 'an anonymous visitor'
  const more = [
    ...(email === undefined || email === user ? [] : [`verified email ${email}`]),
    ...(roles.length > 0 ? [`role ${roles.join(', ')}`] : []),
  ]
  return more.length > 0 ? `${user} (${more.join('; ')})` : user
}

/** Somebody named by an address is known by it as user and as verified email. */
export function principalNamed(name: string): Pick<AccessQuestion, 'user' | 'email'> {
  return name.includes('@') ? { user: name, email: name } : { user: name }
}

async function keyOf(site: Site, path: string, selector: string | undefined): Promise<Key | undefined> {
  if (selector === undefined) return undefined
  const compiled = toSelector(selector, site)
  const held = await site.findParsed(canonicalPath(path))
  if (!held?.isDocument) return undefined
  const document = site.tree(held)
  const element = selectFirst(compiled, document)
  return element && { element, document }
}

function reasonOf(decision: Decision, permitted: boolean, method: string): string {
  if (decision === 'allow') return 'A matching rule allows it, and none of its tier denies it.'
  if (decision === 'deny') return 'A matching rule of the deciding tier denies it.'
  return permitted
    ? 'No rule matches, and the site lets everybody read what no rule speaks of (defaultGet).'
    : `No rule matches, so ${method} is denied.`
}

function missing(selector: string | undefined, key: Key | undefined): string {
  return selector !== undefined && !key ? ` The selector ${selector} finds no element.` : ''
}

function consequence({ applies, decides, action }: ExplainedRule, decision: Decision): string {
  if (!applies) return 'not for this element'
  if (!decides) return 'outranked by a higher tier'
  return action === 'Allow' && decision === 'deny' ? 'overruled by a Deny of its tier' : 'decides'
}
