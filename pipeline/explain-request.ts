/** Why a request would be allowed or refused, asked of a site by its operator or author (SEC-5). */

import { type Admission, admit, admitDirectory } from './access/admission.ts'
import { Access } from './access/decision.ts'
import { type ExplainedRule, type Explanation, explain, nearMisses, type RuleText } from './access/explain.ts'
import { Membership } from './access/groups.ts'
import { identityOf } from './access/identity.ts'
import type { Decision, Key } from './access/matching.ts'
import { type Principal, principalFromClaims, refusalStatus } from './access/principal.ts'
import type { Tier } from './access/rules.ts'
import { siteFindings } from './findings.ts'
import { canonicalPath, decodeTarget, isReserved, mayNameDirectory } from './http/path.ts'
import { notOffered, OFFERED, toSelector } from './refusals.ts'
import { schemaGroups } from './site/schema-groups.ts'
import type { Site } from './site/site.ts'
import { pinTree } from './tree/pins.ts'
import { selectingFirst } from './tree/selector/selector.ts'
import { inTurns } from './tree/steps.ts'
import { isConfiguration } from './write/configuration.ts'

/** Who asks for what. */
export interface AccessQuestion {
  /** Upper case. */
  method: string
  /** As in an address, with a query if it matters; characters that have to be encoded there need not be. */
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
  /** Specificity of the actor that matched, 3 is the most specific; missing where none did. */
  tier?: number
  actor: string
  resource: string
  method: string
  selector?: string
  /** By what it matches the requester, and what that means for the outcome. */
  why: string
}

export interface AccessAnswer {
  allowed: boolean
  /** Status that the request would be answered with, where it is not allowed. */
  status?: number
  /** What the rules know the requester by besides the user name: verified email, groups, roles (IDC-1); none is anonymous. */
  known: readonly string[]
  /** What else the request needs, where it takes more than one permission. */
  also?: string
  /** One sentence: which tier, which rule or which setting decided. */
  reason: string
  /** Rules for this requester, method and path, the most specific first. */
  rules: AccessRule[]
  /** Rules for the path that would have changed the answer, were they not for others or other methods. */
  missed?: AccessRule[]
  /**
   * Groups that decide by themselves and have said no (GRP-5); rules and groups of the site that are ignored, or not what
   * their author may think (RULE-13).
   */
  findings?: string[]
}

/** Rules that nearly matched, and groups that refuse, that an answer tells of. */
const MOST_TOLD = 10

/** Documents whose item types are looked at for one question. */
const MOST_DOCUMENTS = 10_000

/** Stands for a user name that is not known: no author writes it. */
const UNKNOWN_NAME = '\ue000'

/** @throws Fault 400 for a path that no request can have, 422 for a selector that does not parse */
export async function explainRequest(site: Site, question: AccessQuestion): Promise<AccessAnswer> {
  const { method } = question
  const { path, query = '' } = decodeTarget(asSent(question.path), 'public', method !== 'GET')
  const principal = principalOf(question)
  const unasked = unaskedAnswer(site, method, path)
  const refusals: string[] = []
  const membership = new Membership(
    principal,
    schemaGroups(site, ({ name, document }, failure) => {
      const why =
        failure === undefined ? 'its includes does not answer with true' : `its includes has failed: ${failure}`
      refusals.push(`The group ${name} of ${document} does not count them as a member: ${why}.`)
    }),
  )
  const { roles: known } = await identityOf(site.rules, principal, membership)
  if (unasked) return { known, rules: [], ...unasked }
  const facts = { method, path, headers: () => undefined, queryString: query }
  const access = new Access(site.rules, { facts, ...(principal && { principal }) }, site.settings, () => membership)
  await access.resolveGroups([path, canonicalPath(path), `${path}/`])
  const target = await targetOf(site, path, question.selector)
  let answer: Omit<AccessAnswer, 'findings'>
  try {
    answer = { known, ...decided(site, access, question, target) }
  } finally {
    target.release()
  }
  const findings = [...refusals.sort().slice(0, MOST_TOLD), ...(await siteFindings(site, MOST_DOCUMENTS))]
  return { ...answer, ...(findings.length > 0 && { findings }) }
}

/** What the rules say, of a target that does not change meanwhile. */
function decided(
  site: Site,
  access: Access,
  { method, selector, user, email }: AccessQuestion,
  target: Target,
): Omit<AccessAnswer, 'known' | 'findings'> {
  const { path } = target
  const { principal } = access.requester
  const admission = admissionOf(access, method, target)
  // A directory without its slash is what its index is, unless a rule is for its bare name.
  const isIndex = admission === 'redirect' || (target.mayBeDirectory && access.decide('GET', path) === 'unmatched')
  const found = explain(access, method, isIndex ? `${path}/` : path, target.key)
  const allowed = admission === 'redirect' || (admission !== 'refuse' && found.permitted)
  const status = admission === 'refuse' ? refusalStatus(principal) : admission === 'no-match' ? 416 : 404
  const also = [...alsoNeeded(site, method, target)]
  if (user !== undefined && user === email && dependsOnName(access, method, target, found.permitted))
    also.push(
      `That holds where the provider's user name is ${user}, too; if it is another one, name it with the address.`,
    )
  const missed = nearMisses(access, method, path, !allowed, MOST_TOLD)
  return {
    allowed,
    ...(!allowed && { status }),
    ...(also.length > 0 && { also: also.join(' ') }),
    reason: reasonOf(found, admission, target, path),
    rules: found.rules.map(rule => ({
      ...shown(rule),
      tier: rule.tier,
      why: `${rule.why}; ${consequence(rule, found.decision, selector)}`,
    })),
    ...(missed.length > 0 && {
      missed: missed.map(rule => ({
        ...shown(rule),
        why: rule.missing === 'actor' ? 'for others' : 'for other methods',
      })),
    }),
  }
}

/** A path as a client would send it, from one as people write it. */
function asSent(path: string): string {
  const escaped = path.toWellFormed().replace(/%(?![0-9a-f]{2})/gi, '%25')
  return escaped.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}

function principalOf({ user, email, roles }: AccessQuestion): Principal | undefined {
  const claims = { sub: user, ...(email !== undefined && { email, email_verified: true }) }
  return user === undefined ? undefined : principalFromClaims(claims, [...roles])
}

/** What is answered without asking any rule. */
function unaskedAnswer(
  { settings: { brand } }: Site,
  method: string,
  path: string,
): Pick<AccessAnswer, 'allowed' | 'status' | 'reason'> | undefined {
  if (method === 'OPTIONS')
    return { allowed: true, reason: 'OPTIONS is never refused: it tells what the rules permit.' }
  if (!OFFERED.split(', ').includes(method))
    return {
      allowed: false,
      status: notOffered(method).status,
      reason: `The public address has no ${method}, whatever the rules say.`,
    }
  if (!isReserved(path, brand)) return undefined
  const own = `Everything below /-${brand}/ and /.${brand}/ belongs to the server, whatever the rules say`
  return method === 'GET' || method === 'HEAD'
    ? { allowed: true, reason: `${own}; whoever asks gets what is served there, if anything is.` }
    : { allowed: false, status: 403, reason: `${own}; nobody can write there.` }
}

/** What a question is about, as far as it is stored. */
interface Target {
  path: string
  exists: boolean
  /** Nothing is stored at the path itself, but it may name a directory. */
  mayBeDirectory: boolean
  hasIndex: boolean
  selector: string | undefined
  /** First match of the selector. */
  key: Key | undefined
  /** Until then its document stays as it is. */
  release(): void
}

/** @throws Fault 422 */
async function targetOf(site: Site, path: string, selector: string | undefined): Promise<Target> {
  const compiled = selector === undefined ? undefined : toSelector(selector, site)
  const file = compiled ? await site.findParsed(canonicalPath(path)) : await site.find(canonicalPath(path))
  const document = compiled && file?.isDocument ? site.tree(file) : undefined
  const release = document ? pinTree(document) : () => undefined
  try {
    const element = compiled && document && (await inTurns(selectingFirst(compiled, document), document.source.length))
    const mayBeDirectory = !file && mayNameDirectory(path)
    return {
      path,
      exists: file !== undefined,
      mayBeDirectory,
      hasIndex: mayBeDirectory && (await site.find(`${path}/index.html`)) !== undefined,
      selector,
      key: element && document && { element, document },
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}

/** What becomes of the request, as far as one permission decides it. */
function admissionOf(access: Access, method: string, target: Target): Admission | 'redirect' {
  const { path, exists, selector, key, mayBeDirectory, hasIndex } = target
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && mayBeDirectory && selector === undefined)
    return admitDirectory(access, path, hasIndex, method === 'HEAD')
  if (isRead && selector !== undefined)
    return admit(access, { ask: 'read-elements', path, exists, head: method === 'HEAD', keys: key ? [key] : [] })
  if (isRead) return admit(access, { ask: 'read', path, exists, head: method === 'HEAD' })
  if (method === 'PUT' || method === 'POST' || method === 'DELETE') {
    const ask = method === 'PUT' ? 'put' : method === 'POST' ? 'post' : 'delete'
    if (selector === undefined) return admit(access, { ask, path, exists })
    return admit(access, { ask: `${ask}-element`, path, exists, target: key })
  }
  if (method === 'QUERY') return admit(access, { ask: 'evaluate', path, exists })
  return access.permit(method, path, key) ? 'allow' : 'refuse'
}

/** Whether somebody known by their address alone would be answered otherwise if their user name were another one. */
function dependsOnName(access: Access, method: string, { path, key }: Target, permitted: boolean): boolean {
  const { requester, rules, settings, membership } = access
  if (!requester.principal) return false
  const principal = { ...requester.principal, sub: UNKNOWN_NAME }
  return (
    new Access(rules, { ...requester, principal }, settings, () => membership).permit(method, path, key) !== permitted
  )
}

const AFTER_MOVE =
  'To move an element also takes DELETE for it and POST for its new place; to move a document, MOVE for its new path.'

function* alsoNeeded(site: Site, method: string, { path, key, selector }: Target): Generator<string> {
  if (method === 'MOVE') yield AFTER_MOVE
  if (method === 'QUERY') yield 'A QUERY by selector is decided like a GET.'
  if (method === 'POST' && selector === undefined) yield 'A new document also takes PUT for its path.'
  if (method === 'POST' && key) yield 'To insert before or after the element, the one around it counts instead.'
  const writes = method === 'PUT' || method === 'POST' || method === 'DELETE'
  if (!key || !writes || !site.counts(path) || !isConfiguration(site, key.element)) return
  const whole = method === 'DELETE' ? 'PUT or DELETE' : 'PUT'
  const further =
    method === 'DELETE' ? ' Where it is part of an item, or another one refers to it, DELETE is not enough.' : ''
  yield `The element holds configuration of the site, or is part of it: that also takes ${whole} for the whole document.${further}`
}

function shown(rule: RuleText): Omit<AccessRule, 'tier' | 'why'> {
  return {
    document: rule.document,
    place: rule.order + 1,
    action: rule.action,
    actor: rule.actors.join(', '),
    resource: rule.resources.join(', '),
    method: rule.methods.join(', '),
    ...(rule.selector !== undefined && { selector: rule.selector }),
  }
}

/** What the rules are that an answer has missed. */
export function missedTitle(allowed: boolean): string {
  const does = allowed ? 'deny' : 'allow'
  return `Rules for the path that ${does} it to others, or ${does} other methods`
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

/** What the rules of a tier are for (ACT-3). */
const TIERS: Readonly<Record<Tier, string>> = {
  0: 'everybody',
  1: 'an email, a group, a role or everybody signed in',
  2: 'any user, in the deprecated form',
  3: 'a user by name',
}

function reasonOf(found: Explanation, admission: Admission | 'redirect', target: Target, path: string): string {
  const { selector, key } = target
  if (admission === 'refuse' && found.permitted) {
    const lack =
      selector !== undefined && target.exists ? `the selector ${selector} finds no element` : 'nothing is stored there'
    return `${byRules(found)} But ${lack}, which is told only to those who may read the whole.`
  }
  if (admission === 'redirect') return `${byRules(found)} The browser is sent to ${path}/.`
  if (admission === 'not-found') return `${byRules(found)} Nothing is stored there, so the answer is 404.`
  if (selector === undefined || key) return byRules(found)
  if (admission === 'no-match') return `The selector ${selector} finds no element, so the answer is 416.`
  return `${byRules(found)} The selector ${selector} finds no element.`
}

function byRules({ decision, permitted, method, rules }: Explanation): string {
  const deciding = rules.find(({ decides }) => decides)
  if (!deciding) {
    return permitted
      ? 'No rule matches, and the site lets everybody read what no rule speaks of (defaultGet); an event stream takes a rule.'
      : `No rule matches, so ${method} is denied.`
  }
  const tier = `tier ${deciding.tier} (${TIERS[deciding.tier]})`
  return decision === 'allow'
    ? `A rule of ${tier} allows it, and none of that tier denies it.`
    : `A rule of ${tier} denies it; no Allow of that tier or below counts against it.`
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
