/**
 * The sessions of a site's visitors (SSN-1 to SSN-7). Those who hold nothing have signed values: the cookie carries a
 * random id and its time of issue under a signature, so that they cost the server nothing. Who signed in has a kept one.
 * The cookies differ in length, so that the ones do not ask about the others.
 */

import { hash, hkdfSync, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto'
import { type Principal, principalFromClaims } from '../../pipeline/access/principal.ts'
import {
  SessionError,
  type Sessions,
  type SessionValue,
  type SignedIn,
  type SignIn,
} from '../../pipeline/coordination/sessions.ts'
import { Fault } from '../../pipeline/fault.ts'
import { type SessionEnd, sessionExpiry } from './session-expiry.ts'

export interface Session {
  /** Opaque id; keys session content and echo suppression. */
  id: string
  /** Set when the answer has to carry the cookie: value for `Set-Cookie`, without attributes. */
  issue?: string
  /**
   * There is no session and none can be had (SSN-4): the request brought no cookie and this server issues none, or the
   * place where sessions are kept is out of reach.
   */
  missing?: true
  /** It is missing because nobody can tell now whose the cookie is: somebody may be signed in with it. */
  unknown?: true
  /** Who is signed in. */
  principal?: Principal
  /** Unix milliseconds at which the sign-in is over at the latest. */
  until?: number
  /** Where signing out may need it (OIDC-7). */
  idToken?: string
}

/** Anonymous sessions that are nothing but their cookie. */
interface SignedSessions {
  /** The session of the first good cookie, or a new one (SSN-3: never an error, never the client's own id). */
  open(brought: BroughtCookies): Session
  /** The session of a cookie value; finding it counts as use. */
  find(cookie: string): Session | undefined
  create(): Session
  /** Unix milliseconds at which the session of a cookie value ends; undefined when it has, or there is none. */
  expiry(cookie: string): number | undefined
}

const ID_BYTES = 16
const TIME_BYTES = 6
const PAYLOAD_BYTES = ID_BYTES + TIME_BYTES
const MAC_BYTES = 16
const VALUE = /^[A-Za-z0-9_-]{51}$/
const REMEMBERED = 10_000
const POOL_BYTES = ID_BYTES * 256

/**
 * @param options.secret at least 32 random bytes, kept with the data so that sessions survive a restart
 * @param options.site separates the sites of one installation: a cookie of one is nothing at another
 * @param options.lifetime milliseconds from the last use to the end. Only as many sessions are remembered as are used
 *   much; of the others no use is known but the first.
 * @param options.hasEnded whether the session of an id is over although its cookie is good
 */
export function signedSessions(options: {
  secret: Uint8Array
  site: string
  lifetime: number
  hasEnded?: (id: string) => boolean
  clock?: () => number
}): SignedSessions {
  const { lifetime, hasEnded = () => false } = options
  const clock = options.clock ?? Date.now
  const key = Buffer.from(hkdfSync('sha256', options.secret, 'session', options.site, 64))
  const inner = key.subarray(0, 32)
  const outer = key.subarray(32)
  /** Values whose signature was found right, with their expiry. */
  const known = new Map<string, number>()
  /** The same in the order in which they came: a map takes longer to its oldest entry the more were deleted before. */
  const order: string[] = []
  let oldest = 0
  /** What is hashed: a key and behind it what is signed. */
  const innerText = Buffer.concat([inner, Buffer.alloc(PAYLOAD_BYTES)])
  const outerText = Buffer.concat([outer, Buffer.alloc(32)])
  /** A value in bytes. */
  const made = Buffer.alloc(PAYLOAD_BYTES + MAC_BYTES)
  const pool = Buffer.alloc(POOL_BYTES)
  let taken = POOL_BYTES

  // Nested keyed hashing as in HMAC; one-shot hashes cost a third of a Hmac object.
  function sign(payload: Uint8Array): Buffer {
    innerText.set(payload, inner.length)
    outerText.set(hash('sha256', innerText, 'buffer'), outer.length)
    return hash('sha256', outerText, 'buffer').subarray(0, MAC_BYTES)
  }

  function remember(value: string, expiry: number): void {
    if (!known.has(value)) {
      const forgotten = order[oldest]
      if (forgotten !== undefined) known.delete(forgotten)
      order[oldest] = value
      oldest = (oldest + 1) % REMEMBERED
    }
    known.set(value, expiry)
  }

  function expiryOf(value: string): number | undefined {
    if (!VALUE.test(value)) return undefined
    const bytes = Buffer.from(value, 'base64url')
    const payload = bytes.subarray(0, PAYLOAD_BYTES)
    if (!timingSafeEqual(bytes.subarray(PAYLOAD_BYTES), sign(payload))) return undefined
    return payload.readUIntBE(ID_BYTES, TIME_BYTES) + lifetime
  }

  function create(): Session {
    if (taken === POOL_BYTES) {
      randomFillSync(pool)
      taken = 0
    }
    pool.copy(made, 0, taken, taken + ID_BYTES)
    taken += ID_BYTES
    made.writeUIntBE(clock(), ID_BYTES, TIME_BYTES)
    made.set(sign(made.subarray(0, PAYLOAD_BYTES)), PAYLOAD_BYTES)
    // Nobody may ever bring it, so it is not remembered before: whoever keeps no cookies would push out all who do.
    const value = made.toString('base64url')
    return { id: idOf(value), issue: value }
  }

  function expiry(cookie: string, now: number): number | undefined {
    const end = known.get(cookie) ?? expiryOf(cookie)
    return end === undefined || end <= now || hasEnded(idOf(cookie)) ? undefined : end
  }

  function find(cookie: string): Session | undefined {
    const now = clock()
    if (expiry(cookie, now) === undefined) return undefined
    remember(cookie, now + lifetime)
    return { id: idOf(cookie) }
  }

  return {
    open(brought) {
      if (typeof brought === 'string') return find(brought) ?? create()
      for (const cookie of brought ?? []) {
        const found = find(cookie)
        if (found) return found
      }
      return create()
    },
    find,
    create,
    expiry: cookie => expiry(cookie, clock()),
  }
}

/** As many characters as the random part fills. */
function idOf(value: string): string {
  return value.slice(0, 21)
}

/** Sessions whose cookie another edge issues: whatever it is, it is one session; without it there is none (SSN-4). */
export function externalSessions(): Pick<SignedSessions, 'open'> {
  return {
    open(brought) {
      const [cookie] = listOf(brought)
      return cookie ? { id: externalId(cookie) } : { id: '', missing: true }
    },
  }
}

function externalId(cookie: string): string {
  return hash('sha256', cookie).slice(0, 32)
}

/** Values of a session's cookie that a request brings: a neighbouring host can add some of the same name. */
export type BroughtCookies = string | readonly string[] | undefined

function listOf(brought: BroughtCookies): readonly string[] {
  return typeof brought === 'string' ? [brought] : (brought ?? [])
}

export interface SiteSessions {
  /** The session of a cookie if it can be told without asking where sessions are kept; never that of somebody signed in. */
  glance(brought: BroughtCookies): Session | undefined
  /**
   * The session of a cookie, or a new anonymous one. Of several cookies the first one counts that somebody has signed in
   * with, else the first good one (SSN-3). Never fails: when sessions cannot be reached, the visitor is anonymous, and
   * changes are refused (SSN-4).
   */
  open(brought: BroughtCookies): Promise<Session>
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
   * @returns a new anonymous session, or the same one when nobody is signed in
   * @throws Fault 503
   */
  signOut(session: Session): Promise<Session>
  /**
   * Whether a session is over that a request came with: another process that has ended it tells within a second.
   */
  isOver(session: Session): boolean
  /** The same, asked where sessions are kept if that can tell more. @throws Fault 503 */
  isOverNow(session: Session): boolean | Promise<boolean>
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
   * @param brought value of the cookie that opens the session, among others
   * @returns stops watching
   */
  watch(session: Session, brought: BroughtCookies, ended: (why: SessionEnd) => void): () => void
  /** Stops whatever runs in the background; sessions themselves stay. */
  close(): void
}

export interface SiteSessionsOptions {
  /** At least 32 random bytes; signs cookies. */
  secret: Uint8Array
  site: string
  sessions: Sessions
  /** The provider whose word counts, as the settings name it: a `sub` is somebody else's at another one (OpenID Connect Core §5.7). */
  issuer?: string | undefined
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
/** Milliseconds by which it is moved back at least, where the settings have become stricter: clocks of servers differ by less. */
const STRICTER = 3_600_000

export function createSiteSessions(options: SiteSessionsOptions): SiteSessions {
  const { site, sessions, lifetimes, clock = Date.now } = options
  const { idle, signedIn } = lifetimes
  const hasEnded = (id: string) => sessions.hasEnded(site, id)
  const signed = signedSessions({ ...options, lifetime: idle, hasEnded, clock })
  const anonymous = options.external ? externalSessions() : signed
  const step = Math.min(MOVED_EVERY, idle / 100)
  const ends = sessionExpiry({ site, sessions, clock, again: step })

  function isOver({ id, until = Number.POSITIVE_INFINITY }: Session): boolean {
    return hasEnded(id) || until <= clock()
  }

  /** What was kept under other settings ends by those of now (SSN-5, OIDC-5). @returns undefined when it is over */
  function endOf(found: SignedIn | undefined): number | undefined {
    if (!found) return undefined
    const { at, issuer = options.issuer } = found.signIn
    const end = Math.min(found.expires, at + signedIn)
    return issuer === options.issuer && end > clock() ? end : undefined
  }

  /** The session of a cookie that stands for a sign-in. */
  async function find(cookie: string): Promise<Session | undefined> {
    const id = keptId(cookie)
    const found = await sessions.find(site, id)
    if (!found || endOf(found) === undefined) return undefined
    const { claims, roles, at, idToken } = found.signIn
    const principal = principalFromClaims(claims, roles)
    if (!principal) return undefined
    const expires = Math.min(clock() + idle, at + signedIn)
    const later = expires - found.expires
    if (later >= step || -later >= STRICTER) {
      sessions.prolong(site, id, expires).catch(error => options.report('A session was not prolonged', { err: error }))
    }
    return { id, principal, until: at + signedIn, ...(idToken !== undefined && { idToken }) }
  }

  function idIn(cookie: string): string {
    if (isKept(cookie)) return keptId(cookie)
    return options.external ? externalId(cookie) : idOf(cookie)
  }

  async function expiry(cookie: string): Promise<number | undefined> {
    if (isKept(cookie)) return endOf(await sessions.find(site, keptId(cookie)))
    return options.external ? Number.POSITIVE_INFINITY : signed.expiry(cookie)
  }

  return {
    glance: brought => (mayBeKept(brought) ? undefined : anonymous.open(brought)),
    async open(brought) {
      if (!mayBeKept(brought)) return anonymous.open(brought)
      try {
        for (const cookie of listOf(brought)) {
          const found = isKept(cookie) ? await find(cookie) : undefined
          if (found) return found
        }
        return anonymous.open(brought)
      } catch (error) {
        if (!(error instanceof SessionError)) throw error
        options.report('Sessions cannot be reached', { err: error })
        return { id: '', missing: true, unknown: true }
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
      return { id, issue, principal, until: at + signedIn, ...(idToken !== undefined && { idToken }) }
    },
    async signOut(session) {
      if (session.unknown) throw unreachable()
      if (!session.principal) return session
      await reach(sessions.end(site, { id: session.id, until: clock() + signedIn }))
      return anonymous.open(undefined)
    },
    isOver,
    isOverNow(session) {
      if (isOver(session)) return true
      const standing = sessions.isSignedIn(site, session.id)
      return typeof standing === 'boolean' ? !standing : reach(standing).then(isSignedIn => !isSignedIn)
    },
    values: ({ id }, prefix) => reach(sessions.values(site, id, prefix)),
    keep: ({ id }, value) => reach(sessions.keep(site, id, value)),
    take: ({ id }, name) => reach(sessions.take(site, id, name)),
    watch({ id }, brought, ended) {
      const all = listOf(brought)
      const cookie = all.find(each => idIn(each) === id) ?? all[0] ?? ''
      return ends.watch(id, () => expiry(cookie), ended)
    },
    close: ends.close,
  }
}

/** Whether a cookie stands for a sign-in; most stand for nobody in particular, and are longer. */
function isKept(cookie: string): boolean {
  return cookie.length === KEPT_LENGTH && KEPT_VALUE.test(cookie)
}

function mayBeKept(brought: BroughtCookies): boolean {
  return typeof brought === 'string' ? isKept(brought) : brought?.some(isKept) === true
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
    throw unreachable({ cause })
  }
}

function unreachable(options?: ErrorOptions): Fault {
  return new Fault(503, 'Unavailable', 'Sessions cannot be kept at the moment. Try again soon.', options)
}
