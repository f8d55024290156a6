/** The steps that find out who asks: sessions and their cookies, signing in and out (HTTP-1 gates 5 and 6). */

import type { IncomingMessage } from 'node:http'
import type { SiteSettings } from '../../config/sites.ts'
import { type Client, header } from '../../edge/request.ts'
import { readBody } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import { isForeignWrite, ownOrigin, WRITES } from '../../pipeline/http/origin.ts'
import type { Target } from '../../pipeline/http/path.ts'
import { ownText } from '../../pipeline/own-text.ts'
import { rulesAuthority } from '../../pipeline/site/rules-authority.ts'
import type { HostedSite, Hosting } from '../hosting.ts'
import type { State, Step } from '../request-state.ts'
import type { VisitorOf } from '../response-cache.ts'
import type { BroughtCookies, Session, SiteSessions } from './site-sessions.ts'

/** What all addresses of signing in and out begin with. */
const MAYBE_SIGN_IN = /^\/(?:-|auth\/)/

/** Cookies of one name that are looked at; whoever can add so many can also make the head too large. */
const MOST_BROUGHT = 32

/** Characters of a `Cookie` field that the session of one of its cookies may keep in memory. */
const MOST_KEPT = 256

/** Bytes of the form that signs out. */
const LARGEST_FORM = 16 * 1024

/** What can be told of a visitor without asking where sessions are kept. */
export function anonymousVisitor(hosting: Hosting, client: Client, cookie: string | undefined): VisitorOf {
  // Whose site a host's is does not change, so the name of the host need not be read again.
  return site => {
    const hosted = hosting.partsOf(site)
    if (!hosted) return undefined
    const session = hosted.siteSessions.glance(sessionCookies(hosted.settings, cookie))
    return session && { cookie: session.issue && cookieOf(hosted.settings, client, session) }
  }
}

/** Values of the session's cookie in a `Cookie` field. */
export function sessionCookies({ brand }: Pick<SiteSettings, 'brand'>, cookie: string | undefined): BroughtCookies {
  return cookieValues(cookie, `${brand}_session`)
}

/**
 * The values of one cookie in a `Cookie` field.
 *
 * @param field the field's value, as received
 * @param name cookie name
 * @returns the value; where there are several, all of them in their order
 */
export function cookieValues(field: string | undefined, name: string): BroughtCookies {
  if (field === undefined) return undefined
  let first: string | undefined
  let several: string[] | undefined
  let at = 0
  while (at < field.length) {
    let end = field.indexOf(';', at)
    if (end < 0) end = field.length
    while (field[at] === ' ') at++
    if (field.startsWith(name, at) && field[at + name.length] === '=') {
      const cut = trimField(field.slice(at + name.length + 1, end))
      const value = field.length > MOST_KEPT ? ownText(cut) : cut
      if (first === undefined) first = value
      else if (several) several.push(value)
      else several = [first, value]
      if (several?.length === MOST_BROUGHT) break
    }
    at = end + 1
  }
  return several ?? first
}

/** What of a site's settings the cookie shows. */
export interface CookiePolicy {
  /** Milliseconds. */
  lifetime: number
  /** The site's public origin is HTTPS. */
  secure: boolean
  /** The site is shown in frames of other sites. */
  embedded: boolean
}

/** `Set-Cookie` of a session (SSN-2). */
export function sessionCookie(name: string, value: string, { lifetime, secure, embedded }: CookiePolicy): string {
  // Browsers take `SameSite=None` only together with `Secure`.
  const reach = embedded ? 'SameSite=None; Secure; Partitioned' : `SameSite=Lax${secure ? '; Secure' : ''}`
  return `${name}=${value}; Path=/; Max-Age=${Math.floor(lifetime / 1000)}; HttpOnly; ${reach}`
}

function cookieOf(settings: SiteSettings, client: Client, { issue = '', principal }: Session): string {
  const { brand, publicUrl, sessions } = settings
  return sessionCookie(`${brand}_session`, issue, {
    // Use does not set the cookie again, so that of a sign-in lasts as long as the sign-in may.
    lifetime: principal ? sessions.signedIn : sessions.idle,
    secure: client.secure || publicUrl?.startsWith('https:') === true,
    embedded: sessions.embedded,
  })
}

/** Says to caches of one kind what `Cache-Control` says to all others (RFC 9213). */
const TARGETED = /^(?:.+-)?cdn-cache-control$|^surrogate-control$/i

const SHARED = /^(?:public|s-maxage=.*)$/

/**
 * Whether a cache that several visitors have may keep an answer and give it to others: nothing keeps it from that (RFC 9111 §3).
 * Code of a site sets fields of any spelling.
 */
function isShareable({ headers, repeated = [] }: Answer): boolean {
  const fields = [...Object.entries(headers), ...repeated].map(([name, value]) => ({ name: name.toLowerCase(), value }))
  if (fields.some(({ name }) => TARGETED.test(name))) return true
  const told = fields.filter(({ name }) => name === 'cache-control').map(({ value }) => value)
  // With names of fields (`private="x"`) it is about these alone.
  const words = told
    .join()
    .replace(/"[^"]*"/g, '""')
    .toLowerCase()
    .split(/[ \t,;]+/)
  if (words.includes('private') || words.includes('no-store')) return false
  if (!words.includes('no-cache') || words.some(word => SHARED.test(word))) return true
  // A cache would have to ask whether it is still good, which it can only by one of these.
  return fields.some(({ name }) => name === 'etag' || name === 'last-modified')
}

/** SSN-1 and SSN-8: a new session travels with every answer that no shared cache may give to others. */
export function addCookie(state: State, answer: Answer): void {
  const { hosted, session, client } = state
  if (!hosted || !session?.issue || answer.cookieless) return
  if (!answer.stream && isShareable(answer)) return
  answer.headers['Set-Cookie'] = cookieOf(hosted.settings, client, session)
}

/**
 * Addresses of signing in and out come before everything stored and all rules (OIDC-1).
 *
 * @param bodyIdle milliseconds without a byte of a body
 */
export function signInOrOut(bodyIdle: number): Step {
  return (context, next) => {
    const { hosted, target } = context.state
    return hosted && target && MAYBE_SIGN_IN.test(target.path) ? signing(context, hosted, target, next) : next()
  }

  async function signing(
    { req: request, res: response, state }: Parameters<Step>[0],
    hosted: HostedSite,
    target: Target,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    const { client } = state
    const method = request.method ?? ''
    const name = await hosted.signIn.at(method, target.path)
    if (!name) return next()
    const out = name === 'logout' && method === 'GET'
    if (out && isAhead(request))
      throw new Fault(403, 'Forbidden', 'Nobody is signed out ahead of time, only when the link is followed.')
    // Each login takes the place of an older one.
    if (name === 'login' && (isAhead(request) || isContent(request) || (isFetched(request) && !isPassedOn(request))))
      throw new Fault(403, 'Forbidden', 'Nobody is signed in by what a page loads, only when the link is followed.')
    const session =
      out && (isContent(request) || (isFramed(request) && !isClicked(request) && !isPassedOn(request)))
        ? await unseen(hosted.siteSessions)
        : await sessionOf(hosted, client, request, out && isLoaded(request) ? 'POST' : method)
    state.session = session
    const done = await hosted.signIn.answer(name, {
      method,
      query: target.query ?? '',
      session,
      origin: publicOrigin(hosted.settings, client),
      address: client.address,
      unasked: isFramed(request) || isPassedOn(request),
      form: async () => (await readBody(request, response, LARGEST_FORM, bodyIdle)).toString('latin1'),
    })
    state.session = done.session
    state.answer = done.answer
    return undefined
  }
}

/** What a browser says of how it came to ask (Fetch Metadata). */
function fetchOf(request: IncomingMessage): {
  mode?: string | undefined
  dest?: string | undefined
  user?: string | undefined
} {
  const field = (name: string) => header({ request }, `sec-fetch-${name}`)
  return { mode: field('mode'), dest: field('dest'), user: field('user') }
}

/**
 * Signing out changes something although it is a GET: what a foreign page loads, in a frame or without, must not do it, its
 * links may.
 */
function isLoaded(request: IncomingMessage): boolean {
  const { mode = '', dest = '' } = fetchOf(request)
  return !/^(navigate)?$/.test(mode) || !/^(document)?$/.test(dest)
}

/** Whether a page, in which a visitor may have written, loads it as an image, a style or the like. */
function isContent(request: IncomingMessage): boolean {
  const { mode, dest } = fetchOf(request)
  if (mode === undefined || dest === undefined || mode === 'navigate') return false
  return mode === 'no-cors' || dest !== 'empty'
}

/** Whether a script reads it, or a page has it loaded as if for one (`<link rel=preload as=fetch crossorigin>`): nothing tells which. */
function isFetched(request: IncomingMessage): boolean {
  const { mode, dest } = fetchOf(request)
  return dest === 'empty' && mode !== 'navigate'
}

function isFramed(request: IncomingMessage): boolean {
  const { mode, dest = '' } = fetchOf(request)
  return mode === 'navigate' && !/^(document)?$/.test(dest)
}

/**
 * Whether a service worker of the site passes on where a window or a frame goes (`respondWith(fetch(event.request))`): of which,
 * and of clicks, browsers tell nothing then. Chromium leaves the mode as it was, Firefox makes it one that no markup asks in.
 */
function isPassedOn(request: IncomingMessage): boolean {
  const { mode = '', dest } = fetchOf(request)
  return dest === 'empty' && /^(navigate|same-origin)$/.test(mode)
}

/** Whether somebody has clicked, be it anywhere in the page: browsers say so also of frames that it loads in the seconds after. */
function isClicked(request: IncomingMessage): boolean {
  return fetchOf(request).user === '?1'
}

/** Whether a browser reads a link before anybody has followed it. */
function isAhead(request: IncomingMessage): boolean {
  return /\bprefetch\b/i.test(`${header({ request }, 'sec-purpose')} ${header({ request }, 'purpose')}`)
}

export const openSession: Step = async ({ req, state }, next) => {
  const { hosted, client } = state
  if (hosted) state.session = await sessionOf(hosted, client, req, req.method ?? '')
  return next()
}

/**
 * The session of a request (SSN-1), or for a write from a foreign page a fresh one (HTTP-167).
 *
 * @param method what the request is taken for
 */
async function sessionOf(
  hosted: HostedSite,
  client: Client,
  request: IncomingMessage,
  method: string,
): Promise<Session> {
  const { settings, siteSessions } = hosted
  const own = await siteSessions.open(sessionCookies(settings, request.headers.cookie))
  // Browsers keep the cookie back where a foreign page sends a form: whoever brings none may have a session.
  if (!WRITES.has(method) || (own.issue !== undefined && method !== 'POST')) return own
  const foreign = isForeignWrite({
    method,
    origin: request.headers.origin,
    fetchSite: header({ request }, 'sec-fetch-site'),
    own: publicOrigin(settings, client),
    listed: new Set(settings.cors),
  })
  return foreign ? unseen(siteSessions) : own
}

/** A session for one request: were its cookie sent, a foreign page could put it in place of the visitor's own. */
async function unseen(siteSessions: SiteSessions): Promise<Session> {
  const { issue: _, ...session } = await siteSessions.open(undefined)
  return session
}

function publicOrigin({ publicUrl }: SiteSettings, { secure, authority = '' }: Client): string {
  return publicUrl ?? ownOrigin(secure, authority)
}

export const needSession: Step = ({ req, state }, next) => {
  if (!state.session?.missing || !WRITES.has(req.method ?? '')) return next()
  throw new Fault(409, 'NoSession', 'The change came without a session.')
}

/** The rules of a site, applied to one request; they look fields up as one text each (LOOK-2). */
export function authorityOf(hosted: HostedSite, request: IncomingMessage, target: Target, session: Session) {
  const { principal } = session
  const facts = {
    method: request.method ?? 'GET',
    path: target.path,
    headers: (name: string) => header({ request }, name),
    queryString: target.query ?? '',
  }
  const { siteSessions } = hosted
  return rulesAuthority(hosted.site, { facts, ...(principal && { principal }) }, hosted.groups, {
    isOver: () => siteSessions.isOver(session),
    isOverNow: () => siteSessions.isOverNow(session),
  })
}
