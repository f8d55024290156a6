/** Signing in through the site's identity provider, and signing out (OIDC-1 to OIDC-10). */

import type { SiteSettings } from '../../config/sites.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { SignIn } from '../../pipeline/coordination/sessions.ts'
import type { Tallies } from '../../pipeline/coordination/tallies.ts'
import { Fault } from '../../pipeline/fault.ts'
import type { Session } from '../session.ts'
import type { Visitors } from '../visitors.ts'
import { callbackPath, type EndpointName, endpointAt, endpointPath, returnTarget } from './addresses.ts'
import { takeLogin } from './allowance.ts'
import { rolesOf } from './claims.ts'
import { type FailedSignIn, failedSignIn } from './pages.ts'
import { type Attempt, createProvider, newAttempt, type Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

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
}

/** Milliseconds that a login may take. */
const PATIENCE = 600_000
/** Logins under way that a session holds at most. */
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
  visitors: Visitors
  /** Of logins. */
  tallies: Tallies
  /** Whether something is stored at exactly this path. */
  isStored: (path: string) => Promise<boolean>
  /** Told of failures that the operator should know. */
  report: (message: string, details: object) => void
  /** Unix milliseconds. */
  clock?: () => number
}

export function createSignIn(options: SignInOptions): SignInEndpoints {
  const { settings, visitors, tallies, report, clock = Date.now } = options
  const { brand, ns, oidc } = settings
  const provider = oidc && createProvider(oidc, clock)
  const loginPath = endpointPath(brand, 'login')

  const fail = (failure: FailedSignIn) => failedSignIn(ns, failure)
  const retryAddress = (target: string) =>
    target === '/' ? loginPath : `${loginPath}?redirect-post=${encodeURIComponent(target)}`

  /** OIDC-9 and OIDC-6: what a provider that was of no use means. */
  function providerFailure(error: unknown, target: string, elsewhere: 502 | 503): unknown {
    if (!(error instanceof ProviderError)) return error
    const again = retryAddress(target)
    if (error.reason !== 'declined') report(`Sign-in failed: ${error.message}`, { reason: told(error.cause) })
    if (error.reason === 'declined')
      return fail({
        status: 400,
        kind: 'BadRequest',
        message: 'You were not signed in: the identity provider did not confirm who you are.',
        advice: 'If you did not cancel this yourself, try again or use another account.',
        again,
      })
    if (error.reason === 'invalid')
      return fail({
        status: 400,
        kind: 'BadRequest',
        message: 'You were not signed in: the answer of the identity provider could not be verified.',
        advice: 'Try again. If it happens every time, tell the operator of this site.',
        again,
      })
    return fail({
      status: error.reason === 'unconfigured' ? 503 : elsewhere,
      kind: elsewhere === 503 || error.reason === 'unconfigured' ? 'Unavailable' : 'BadGateway',
      message: 'Nobody can sign in at the moment: the identity provider of this site cannot be reached.',
      advice: 'Try again in a few minutes. What is open to everybody can be read meanwhile.',
      again,
    })
  }

  function needProvider(): Provider {
    if (provider) return provider
    throw fail({
      status: 404,
      kind: 'NotFound',
      message: 'No identity provider is configured for this site, so nobody can sign in here.',
      advice: 'The operator of the site names one in its settings (oidc.issuer, oidc.clientId).',
    })
  }

  /** A session that can hold something. */
  function needSession({ missing }: Session): void {
    const elsewhere = settings.sessions.external
    if (!missing && !elsewhere) return
    throw fail({
      status: 503,
      kind: 'Unavailable',
      message: elsewhere
        ? 'Sessions of this site are issued by another server, so people sign in there.'
        : 'Nobody can sign in at the moment: there is no session that could remember it.',
      advice: 'Try again later, or ask the operator of this site.',
    })
  }

  async function login({
    query,
    session,
    origin,
    address: from,
  }: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    needSession(session)
    const target = returnTarget(new URLSearchParams(query).get('redirect-post'), settings)
    const retryAfter = await takeLogin(tallies, from)
    if (retryAfter !== undefined)
      throw fail({
        status: 429,
        kind: 'TooManyRequests',
        message: 'Too many people, or a program, have begun to sign in from your network just now.',
        advice: 'Wait a few seconds and try again.',
        again: retryAddress(target),
        retryAfter,
      })
    const attempt = newAttempt()
    const address = await configured.authorizationUrl(origin + callbackPath(settings), attempt).catch(error => {
      throw providerFailure(error, target, 503)
    })
    const pending: Pending = { ...attempt, target }
    const value = { name: PENDING + attempt.state, value: JSON.stringify(pending), expires: clock() + PATIENCE }
    if (!(await visitors.keep(session, value))) throw unknown(target)
    const all = await visitors.values(session, PENDING)
    all.sort((a, b) => b.expires - a.expires)
    for (const { name } of all.filter(({ name }) => name !== value.name).slice(MOST_PENDING - 1))
      await visitors.take(session, name)
    return { answer: redirect(302, address.href), session }
  }

  function unknown(target: string): Fault {
    return fail({
      status: 400,
      kind: 'BadRequest',
      message: 'This sign-in cannot be finished: it was finished already, took too long, or began in another browser.',
      advice: 'Begin again. Cookies have to be allowed for this site.',
      again: retryAddress(target),
    })
  }

  async function callback({ query, session, origin }: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    needSession(session)
    const state = new URLSearchParams(query).get('state') ?? ''
    const held = STATE.test(state) ? await visitors.take(session, PENDING + state) : undefined
    if (held === undefined) throw unknown('/')
    const pending = JSON.parse(held) as Pending
    const { target } = pending
    const address = URL.parse(`${origin}${callbackPath(settings)}?${query}`)
    if (!address) throw unknown(target)
    const { claims, idToken } = await configured.identify(address, pending).catch(error => {
      throw providerFailure(error, target, 502)
    })
    const signIn: SignIn = {
      claims,
      roles: rolesOf(claims, oidc?.rolesClaim ?? 'roles'),
      at: clock(),
      ...(oidc?.endSession && { idToken }),
    }
    const next = await visitors.signIn(session, signIn)
    if (!next) throw unknown(target)
    return { answer: redirect(302, target), session: next }
  }

  async function logout(request: SignInRequest): Promise<{ answer: Answer; session: Session }> {
    const configured = needProvider()
    const { session, query, method, origin } = request
    const posted = method === 'POST'
    const wanted =
      new URLSearchParams(query).get('redirect-post') ??
      (posted ? new URLSearchParams(await request.form()).get('redirect-post') : null)
    const target = returnTarget(wanted, settings)
    const next = await visitors.signOut(session)
    const end =
      oidc?.endSession && session.principal
        ? await configured.endSessionUrl(session.idToken, origin + target).catch(error => {
            // The visitor is signed out here, whatever the provider does.
            report('The session at the identity provider was not ended', { reason: told(error) })
            return undefined
          })
        : undefined
    return { answer: redirect(posted ? 303 : 302, end?.href ?? target), session: next }
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

/** Messages of an error and its causes; not the errors themselves, which may hold tokens. */
function told(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause)
    messages.push(cause.message)
  return messages.join(': ')
}
