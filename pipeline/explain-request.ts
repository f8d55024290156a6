/** Why a request would be allowed or refused, asked of a site by its operator or author (SEC-5). */

import { Access } from './access/decision.ts'
import { type ExplainedRule, type Explanation, explain } from './access/explain.ts'
import { Membership } from './access/groups.ts'
import { identityOf } from './access/identity.ts'
import type { Decision, Key } from './access/matching.ts'
import { principalFromClaims, refusalStatus } from './access/principal.ts'
import type { Tier } from './access/rules.ts'
import { toSelector } from './decide.ts'
import { canonicalPath } from './http/path.ts'
import { schemaGroups } from './site/schema-groups.ts'
import type { Site } from './site/site.ts'
import { selectFirst } from './tree/selector/selector.ts'
import { isConfiguration } from './write/configuration.ts'

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
  /** Path of the document that holds the rule, and which of its rules it is, from 1. */
  document: string
  place: number
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
  /** What the rules know the requester by besides the user name: verified email, groups, roles (IDC-1); none is anonymous. */
  known: readonly string[]
  /** What else the request needs, where it takes more than one permission. */
  also?: string
  /** One sentence: which tier, which rule or which setting decided. */
  reason: string
  /** Rules for this requester, method and path, the most specific first. */
  rules: AccessRule[]
}

/** @throws Fault 422 for a selector that does not parse */
export async function explainRequest(site: Site, question: AccessQuestion): Promise<AccessAnswer> {
  const { method, user, email, roles } = question
  const [path = '', queryString = ''] = question.path.split('?', 2)
  const claims = { sub: user, ...(email !== undefined && { email, email_verified: true }) }
  const principal = user === undefined ? undefined : principalFromClaims(claims, [...roles])
  const facts = { method, path, headers: () => undefined, queryString }
  const membership = new Membership(principal, schemaGroups(site))
  const access = new Access(site.rules, { facts, ...(principal && { principal }) }, site.settings, membership)
  await access.settle([path, canonicalPath(path)])
  const { selector } = question
  const key = await keyOf(site, path, selector)
  const found = explain(access, method, path, key)
  const also = alsoNeeded(site, method, key)
  const { roles: known } = await identityOf(site.rules, principal, membership)
  return {
    allowed: found.permitted,
    known,
    ...(!found.permitted && { status: refusalStatus(principal) }),
    ...(also !== undefined && { also }),
    reason: reasonOf(found) + missing(selector, key),
    rules: found.rules.map(rule => ({
      document: rule.document,
      place: rule.order + 1,
      action: rule.action,
      tier: rule.tier,
      actor: rule.actors.join(', '),
      resource: rule.resources.join(', '),
      method: rule.methods.join(', '),
      ...(rule.selector !== undefined && { selector: rule.selector }),
      why: `${rule.why}; ${consequence(rule, found.decision, selector)}`,
    })),
  }
}

const AFTER_MOVE =
  'To move an element also takes DELETE for it and POST for its new place; to move a document, MOVE for its new path.'

function alsoNeeded(site: Site, method: string, key: Key | undefined): string | undefined {
  if (method === 'MOVE') return AFTER_MOVE
  const writes = method === 'PUT' || method === 'POST' || method === 'DELETE'
  if (!key || !writes || !isConfiguration(site, key.element)) return undefined
  const whole = method === 'DELETE' ? 'PUT or DELETE' : 'PUT'
  return `The element holds configuration of the site, or is part of it: that also takes ${whole} for the whole document.`
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

/** What the rules of a tier are for (ACT-3). */
const TIERS: Readonly<Record<Tier, string>> = {
  0: 'everybody',
  1: 'an email, a group, a role or everybody signed in',
  2: 'any user, in the deprecated form',
  3: 'a user by name',
}

function reasonOf({ decision, permitted, method, rules }: Explanation): string {
  const deciding = rules.find(({ decides }) => decides)
  if (!deciding) {
    return permitted
      ? 'No rule matches, and the site lets everybody read what no rule speaks of (defaultGet).'
      : `No rule matches, so ${method} is denied.`
  }
  const tier = `tier ${deciding.tier} (${TIERS[deciding.tier]})`
  return decision === 'allow'
    ? `A rule of ${tier} allows it, and none of that tier denies it.`
    : `A rule of ${tier} denies it; no Allow of that tier or below counts against it.`
}

function missing(selector: string | undefined, key: Key | undefined): string {
  return selector !== undefined && !key ? ` The selector ${selector} finds no element.` : ''
}

function consequence(
  { applies, decides, action }: ExplainedRule,
  decision: Decision,
  selector: string | undefined,
): string {
  if (!applies) return selector === undefined ? 'only for elements, and none is named' : 'not for this element'
  if (!decides) return 'outranked by a higher tier'
  return action === 'Allow' && decision === 'deny' ? 'overruled by a Deny of its tier' : 'decides'
}
