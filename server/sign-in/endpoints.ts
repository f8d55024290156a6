/** Signing in through the site's identity provider, and signing out (OIDC-1 to OIDC-10). */

import type { SiteSettings } from '../../config/sites.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { RateLimits } from '../../pipeline/coordination/rate-limits.ts'
import type { SessionValue, SignIn } from '../../pipeline/coordination/sessions.ts'
import { Fault } from '../../pipeline/fault.ts'
import { networkOf } from '../../pipeline/http/network.ts'
import { wordsOf } from '../../pipeline/tree/ascii.ts'
import type { Session, SiteSessions } from '../sessions/site-sessions.ts'
import { callbackPath, type EndpointName, endpointAt, returnTarget } from './addresses.ts'
import { signInFailures } from './failures.ts'
import { type Attempt, createProvider, newAttempt, type Provider } from './provider.ts'
import { messagesOf, ProviderError } from './provider-error.ts'

/**
 * Logins of one address: each costs a place in the session store and a visit to the provider. Enough for a school that
 * signs in behind one address in the morning.
 */
const LOGINS = { most: 200, perSecond: 2 }

export interface SignInRequest {
  /** Upper case. */
  method: string
  /** Raw, without `?`. */
  query: string
  /** The visitor's session, which may be new. */
  session: Session
  /** Public origin of the site. */
  origin: string
  /** Of the client. */
  address: string
  /** It comes to stand in a frame: nothing tells whether somebody has asked for it, or a page has loaded it. */
  unasked: boolean
  /** Fields of a form that was sent, as a query string. */
  form: () => Promise<string>
}

export interface SignInEndpoints {
  /**
   * The endpoint that answers a request; it stands before everything stored and all rules, an alias only where nothing is
   * stored.
   *
   * @param path decoded
   */
  at(method: string, path: string): Promise<EndpointName | undefined>
  /**
   * @returns the answer, and the session it belongs to
   * @throws Fault with a document for people
   */
  answer(name: EndpointName, request: SignInRequest): Promise<{ answer: Answer; session: Session }>
}

/** A login under way, as the visitor's session holds it. */
interface Pending extends Attempt {
  target: string
  /** It takes the place of none that somebody has asked for. */
  unasked?: true
}

/** Characters of a `sub`; OpenID Connect Core §2 allows 255. */
const LONGEST_NAME = 1024
const MOST_ROLES = 1024
/** Characters of all claims as JSON. */
const LONGEST_CLAIMS = 128 * 1024
/** Characters of an ID token that is kept for signing out: no provider takes a longer one in an address. */
const LONGEST_HINT = 16 * 1024
/** Claims within claims: what reads or writes them calls itself for each level. */
const MOST_LEVELS = 512
/** Milliseconds that a login may take. */
const PATIENCE = 600_000
/** Logins under way that a session holds at most, of those in frames and of others. */
const MOST_PENDING = 5
const PENDING = 'login/'
const STATE = /^[A-Za-z0-9_-]{1,64}$/

const ALLOWED: Readonly<Record<EndpointName, string>> = {
  login: 'GET, HEAD',
  callback: 'GET',
  logout: 'GET, POST',
}

export interface SignInOptions {
  settings: Pick<SiteSettings, 'brand' | 'ns' | 'oidc' | 'authAliases' | 'sessions'>
  siteSessions: SiteSessions
  /** Of logins. */
  rateLimits: RateLimits
  /** Whether something is stored at exactly this path. */
  isStored: (path: string) => Promise<boolean>
  /** Told of failures that the operator should know. */
  report: (message: string, details: object) => void
  /** Unix milliseconds. */
  clock?: () => number
}

export function createSignIn(options: SignInOptions): SignInEndpoints {
  const { settings, siteSessions, rateLimits, report, clock = Date.now } = options
  const { oidc } = settings
  const provider = oidc && createProvider(oidc)
  const failures = signInFailures(settings, report)

  function needProvider(): Provider {
    if (provider) return provider
    throw failures.noProvider()
  }

  /** A session that can hold something. */
  function needSession({ missing }: Session): void {
    const { external } = settings.sessions
    if (missing || external) throw failures.noSession(external)
  }

  async function login({
    query,
    session,
    origin,
    address: from,
    unasked,
  }: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    needSession(session)
    const target = returnTarget(new URLSearchParams(query).get('redirect-post'), settings)
    const retryAfter = await takeLogin(rateLimits, from, unasked)
    if (retryAfter !== undefined) throw failures.tooMany(target, retryAfter)
    const attempt = newAttempt()
    const address = await configured.authorizationUrl(origin + callbackPath(settings), attempt).catch(error => {
      throw failures.ofProvider(error, target, 503)
    })
    const pending: Pending = { ...attempt, target, ...(unasked && { unasked }) }
    const value = { name: PENDING + attempt.state, value: JSON.stringify(pending), expires: clock() + PATIENCE }
    if (!(await siteSessions.keep(session, value))) throw failures.unknown(target)
    const all = await siteSessions.values(session, PENDING)
    const isAlike = (other: SessionValue) => ((JSON.parse(other.value) as Pending).unasked ?? false) === unasked
    const others = all
      .filter(other => other.name !== value.name && isAlike(other))
      .sort((a, b) => b.expires - a.expires)
    for (const { name } of others.slice(MOST_PENDING - 1)) await siteSessions.take(session, name)
    return { answer: redirect(302, address.href), session }
  }

  async function callback({ query, session, origin }: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    needSession(session)
    const state = new URLSearchParams(query).get('state') ?? ''
    const held = STATE.test(state) ? await siteSessions.take(session, PENDING + state) : undefined
    if (held === undefined) throw failures.unknown('/')
    const pending = JSON.parse(held) as Pending
    const { target } = pending
    const address = URL.parse(`${origin}${callbackPath(settings)}?${query}`)
    if (!address) throw failures.unknown(target)
    const { claims, idToken } = await configured.identify(address, pending).catch(error => {
      throw failures.ofProvider(error, target, 502)
    })
    const roles = rolesOf(claims, oidc?.rolesClaim ?? 'roles')
    const excess = unkeepable(claims, roles)
    if (excess !== undefined) throw failures.ofProvider(new ProviderError('invalid', excess), target, 502)
    const signIn: SignIn = {
      claims,
      roles,
      at: clock(),
      ...(oidc?.issuer !== undefined && { issuer: oidc.issuer }),
      ...(oidc?.endSession && idToken.length <= LONGEST_HINT && { idToken }),
    }
    const next = await siteSessions.signIn(session, signIn)
    if (!next) throw failures.unknown(target)
    return { answer: leaving(session, redirect(302, target)), session: next }
  }

  async function logout(request: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    const { session, query, method, origin } = request
    const posted = method === 'POST'
    const wanted =
      new URLSearchParams(query).get('redirect-post') ??
      (posted ? new URLSearchParams(await request.form()).get('redirect-post') : null)
    const target = returnTarget(wanted, settings)
    const next = await siteSessions.signOut(session)
    const end =
      oidc?.endSession && session.principal
        ? await configured.endSessionUrl(session.idToken, origin + target).catch(error => {
            // The visitor is signed out here, whatever the provider does.
            report('The session at the identity provider was not ended', { reason: messagesOf(error) })
            return undefined
          })
        : undefined
    return { answer: leaving(session, redirect(posted ? 303 : 302, end?.href ?? target)), session: next }
  }

  return {
    async at(method, path) {
      const found = endpointAt(settings, path)
      if (!found || !takes(found.name, method)) return undefined
      return found.alias && (await options.isStored(path)) ? undefined : found.name
    },
    async answer(name, request) {
      // Coming back and signing out change something, which a HEAD must not.
      if (request.method === 'HEAD' && name !== 'login')
        throw new Fault(405, 'MethodNotAllowed', 'This address is for GET.', { headers: { Allow: ALLOWED[name] } })
      if (name === 'login') return login(request)
      return name === 'callback' ? callback(request) : logout(request)
    },
  }
}

/** Other methods are answered as at any reserved address. */
function takes(name: EndpointName, method: string): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && name === 'logout')
}

function redirect(status: 302 | 303, location: string): Answer {
  return { status, headers: { Location: location, 'Cache-Control': 'no-store' }, body: '' }
}

/** Has the browser drop the pages of whoever was signed in: a step back would show them without asking for them. */
function leaving({ principal }: Session, answer: Answer): Answer {
  if (principal) answer.headers['Clear-Site-Data'] = '"cache"'
  return answer
}

/**
 * Roles from identity claims (OIDC-5).
 *
 * @param path name of a claim; where there is none of this name, dots reach nested ones
 * @returns the roles, each once: from a list of texts, or from one text split at white space; nothing for other shapes
 */
export function rolesOf(claims: Record<string, unknown>, path: string): string[] {
  const found = Object.hasOwn(claims, path) ? claims[path] : nested(claims, path.split('.'))
  const roles = typeof found === 'string' ? wordsOf(found) : isTexts(found) ? found : []
  return [...new Set(roles.filter(role => role !== ''))]
}

function nested(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return undefined
  return nested((value as Record<string, unknown>)[name], rest)
}

/**
 * What is kept with a session, and looked at with each of its requests, is bounded (OIDC-5).
 *
 * @param claims as the provider sent them
 * @param roles taken from them
 * @returns why they cannot be kept, for the operator; undefined when they can
 */
function unkeepable(claims: Record<string, unknown>, roles: readonly string[]): string | undefined {
  const { sub } = claims
  if (typeof sub === 'string' && sub.length > LONGEST_NAME) return `The sub has more than ${LONGEST_NAME} characters`
  // Names stand in lines of the log.
  if (typeof sub === 'string' && /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(sub))
    return 'The sub holds control characters'
  // Wherever it is sent, or written into a page, it would be the same as others.
  if (typeof sub === 'string' && !sub.isWellFormed()) return 'The sub is no Unicode text'
  if (roles.length > MOST_ROLES) return `There are more than ${MOST_ROLES} roles`
  if (isDeeper(claims, MOST_LEVELS)) return `The claims have more than ${MOST_LEVELS} levels`
  if (JSON.stringify(claims).length > LONGEST_CLAIMS) return `The claims have more than ${LONGEST_CLAIMS} characters`
  return undefined
}

function isDeeper(value: unknown, most: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap(each => (typeof each === 'object' && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return true
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string')
}

/**
 * Takes one from the logins that an address has left.
 *
 * @param address IPv4 or IPv6; addresses that one customer is given together count as one
 * @param unasked one that may be begun by a page, in a frame: as many as there are leave the others alone
 * @returns undefined, or the seconds after which there is one again
 */
export function takeLogin(rateLimits: RateLimits, address: string, unasked = false): Promise<number | undefined> {
  return rateLimits.spend(`login ${unasked ? 'unasked ' : ''}${networkOf(address)}`, LOGINS)
}
