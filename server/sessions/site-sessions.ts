/**
 * The sessions of a site's visitors (SSN-1 to SSN-7): signed values for those who hold nothing, which cost nothing, and
 * kept ones for those who signed in. Their cookies differ in length, so that the ones do not ask about the others.
 */

import { hash, randomBytes } from 'node:crypto'
import { principalFromClaims } from '../../pipeline/access/principal.ts'
import { SessionError, type Sessions, type SessionValue, type SignIn } from '../../pipeline/coordination/sessions.ts'
import { Fault } from '../../pipeline/fault.ts'
import { type SessionEnd, sessionExpiry } from './session-expiry.ts'
import { externalSessions, type Session, type SignedSessions, signedSessions } from './signed-sessions.ts'

export interface SiteSessions {
  /** The session of a cookie if it can be told without asking where sessions are kept; never that of somebody signed in. */
  glance(cookie: string | undefined): Session | undefined
  /**
   * The session of a cookie, or a new anonymous one. Never fails: when sessions cannot be reached, the visitor is
   * anonymous, and changes are refused (SSN-4).
   */
  open(cookie: string | undefined): Promise<Session>
  /**
   * Signs somebody in (SSN-6).
   *
   * @param signIn its claims hold a `sub`
   * @returns the session that follows, whose cookie has to be set; undefined when the session was ended meanwhile
   * @throws Fault 503 when sessions cannot be reached
   */
  signIn(session: Session, signIn: SignIn): Promise<Session | undefined>
  /**
   * Signs out (SSN-6).
   *
   * @returns a new anonymous session, or the same one when nobody was signed in
   * @throws Fault 503
   */
  signOut(session: Session): Promise<Session>
  /** Something that a session holds. @throws Fault 503 */
  values(session: Session, prefix: string): Promise<SessionValue[]>
  /** @returns false when the session has ended; @throws Fault 503 */
  keep(session: Session, value: SessionValue): Promise<boolean>
  /** Takes a value away, for one caller only. @throws Fault 503 */
  take(session: Session, name: string): Promise<string | undefined>
  /**
   * Tells when a session ends (SSN-7, EVT-50): at once when it is signed out or followed by another one, else when its
   * time is over.
   *
   * @param cookie value of the cookie that opens the session
   * @returns stops watching
   */
  watch(session: Session, cookie: string, ended: (why: SessionEnd) => void): () => void
  /** Stops whatever runs in the background; sessions themselves stay. */
  close(): void
}

export interface SiteSessionsOptions {
  /** At least 32 random bytes; signs cookies. */
  secret: Uint8Array
  site: string
  sessions: Sessions
  /** Milliseconds: from the last use of a session, and from a sign-in, to the end. */
  lifetimes: { idle: number; signedIn: number }
  /** Another edge issues the cookies. */
  external: boolean
  /** Told of failures to prolong sessions. */
  report: (message: string, details: object) => void
  /** Unix milliseconds. */
  clock?: () => number
}

/** Cookie of somebody signed in: 32 random bytes. Only its digest is kept. */
const KEPT_VALUE = /^[A-Za-z0-9_-]*$/
const KEPT_LENGTH = 43
const KEPT_BYTES = 32
/** The end of a session is moved at most so often, in milliseconds. */
const MOVED_EVERY = 60_000

export function createSiteSessions(options: SiteSessionsOptions): SiteSessions {
  const { site, sessions, lifetimes, clock = Date.now } = options
  const { idle, signedIn } = lifetimes
  const hasEnded = (id: string) => sessions.hasEnded(site, id)
  const signed = signedSessions({ ...options, lifetime: idle, hasEnded, clock })
  const anonymous: Pick<SignedSessions, 'open'> = options.external ? externalSessions() : signed
  const step = Math.min(MOVED_EVERY, idle / 100)
  const ends = sessionExpiry({ site, sessions, clock, again: step })

  /** The session of a cookie that stands for a sign-in. */
  async function find(cookie: string): Promise<Session | undefined> {
    const id = keptId(cookie)
    const found = await sessions.find(site, id)
    const principal = found && principalFromClaims(found.signIn.claims, found.signIn.roles)
    if (!principal) return undefined
    const { at, idToken } = found.signIn
    const expires = Math.min(clock() + idle, at + signedIn)
    if (expires - found.expires >= step) {
      sessions.prolong(site, id, expires).catch(error => options.report('A session was not prolonged', { err: error }))
    }
    return { id, principal, ...(idToken !== undefined && { idToken }) }
  }

  async function expiry(cookie: string): Promise<number | undefined> {
    if (isKept(cookie)) return (await sessions.find(site, keptId(cookie)))?.expires
    return options.external ? Number.POSITIVE_INFINITY : signed.expiry(cookie)
  }

  return {
    glance: cookie => (isKept(cookie) ? undefined : anonymous.open(cookie)),
    async open(cookie) {
      if (!isKept(cookie)) return anonymous.open(cookie)
      try {
        return (await find(cookie)) ?? anonymous.open(options.external ? cookie : undefined)
      } catch (error) {
        if (!(error instanceof SessionError)) throw error
        options.report('Sessions cannot be reached', { err: error })
        return { id: '', missing: true }
      }
    },
    async signIn(session, signIn) {
      const now = clock()
      const issue = randomBytes(KEPT_BYTES).toString('base64url')
      const id = keptId(issue)
      const { claims, roles, at, idToken } = signIn
      const principal = principalFromClaims(claims, roles)
      if (!principal) throw new Error('a sign-in needs a sub')
      const expires = Math.min(now + idle, at + signedIn)
      const follows = { id: session.id, until: now + Math.max(idle, signedIn) }
      if (!(await reach(sessions.signIn(site, id, { signIn, expires }, follows)))) return undefined
      return { id, issue, principal, ...(idToken !== undefined && { idToken }) }
    },
    async signOut(session) {
      if (!session.principal) return session
      await reach(sessions.end(site, { id: session.id, until: clock() + signedIn }))
      return anonymous.open(undefined)
    },
    values: ({ id }, prefix) => reach(sessions.values(site, id, prefix)),
    keep: ({ id }, value) => reach(sessions.keep(site, id, value)),
    take: ({ id }, name) => reach(sessions.take(site, id, name)),
    watch: ({ id }, cookie, ended) => ends.watch(id, () => expiry(cookie), ended),
    close: ends.close,
  }
}

/** Whether a cookie stands for a sign-in; most stand for nobody in particular, and are longer. */
function isKept(cookie: string | undefined): cookie is string {
  return cookie !== undefined && cookie.length === KEPT_LENGTH && KEPT_VALUE.test(cookie)
}

/** The cookie itself is a secret, so that ids and what is at rest do not show it. */
function keptId(cookie: string): string {
  return hash('sha256', cookie, 'base64url')
}

async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof SessionError)) throw cause
    throw new Fault(503, 'Unavailable', 'Sessions cannot be kept at the moment. Try again soon.', { cause })
  }
}
