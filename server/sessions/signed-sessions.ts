/**
 * Anonymous sessions as signed values (SSN-1 to SSN-5): the cookie carries a random id and its time of issue under a
 * signature, so that a visitor who stores nothing costs the server nothing.
 */

import { hash, hkdfSync, randomFillSync, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../pipeline/access/principal.ts'

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
  /** Who is signed in. */
  principal?: Principal
  /** Where signing out may need it (OIDC-7). */
  idToken?: string
}

/** Anonymous sessions that are nothing but their cookie. */
export interface SignedSessions {
  /** The session of a cookie value, or a new one (SSN-3: never an error, never the client's own id). */
  open(cookie: string | undefined): Session
  /** The session of a cookie value; finding it counts as use. */
  find(cookie: string): Session | undefined
  create(): Session
  /** Unix milliseconds at which the session of a cookie value ends; undefined when it has, or there is none. */
  expiry(cookie: string): number | undefined
}

const ID_BYTES = 16
const TIME_BYTES = 6
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
  /** Values whose signature was found right, with their expiry; the oldest is forgotten first. */
  const known = new Map<string, number>()
  const pool = Buffer.alloc(POOL_BYTES)
  let taken = POOL_BYTES

  // Nested keyed hashing as in HMAC; one-shot hashes cost a third of a Hmac object.
  function sign(payload: Uint8Array): Buffer {
    const digest = hash('sha256', Buffer.concat([inner, payload]), 'buffer')
    return hash('sha256', Buffer.concat([outer, digest]), 'buffer').subarray(0, MAC_BYTES)
  }

  function remember(value: string, expiry: number): void {
    if (known.size >= REMEMBERED && !known.has(value)) {
      const oldest = known.keys().next().value
      if (oldest !== undefined) known.delete(oldest)
    }
    known.set(value, expiry)
  }

  function expiryOf(value: string): number | undefined {
    if (!VALUE.test(value)) return undefined
    const bytes = Buffer.from(value, 'base64url')
    const payload = bytes.subarray(0, ID_BYTES + TIME_BYTES)
    if (!timingSafeEqual(bytes.subarray(ID_BYTES + TIME_BYTES), sign(payload))) return undefined
    return payload.readUIntBE(ID_BYTES, TIME_BYTES) + lifetime
  }

  function create(): Session {
    if (taken === POOL_BYTES) {
      randomFillSync(pool)
      taken = 0
    }
    const payload = Buffer.allocUnsafe(ID_BYTES + TIME_BYTES)
    pool.copy(payload, 0, taken, taken + ID_BYTES)
    taken += ID_BYTES
    const now = clock()
    payload.writeUIntBE(now, ID_BYTES, TIME_BYTES)
    const value = Buffer.concat([payload, sign(payload)]).toString('base64url')
    remember(value, now + lifetime)
    return { id: idOf(value), issue: value }
  }

  function expiry(cookie: string): number | undefined {
    const end = known.get(cookie) ?? expiryOf(cookie)
    return end === undefined || end <= clock() || hasEnded(idOf(cookie)) ? undefined : end
  }

  function find(cookie: string): Session | undefined {
    if (expiry(cookie) === undefined) return undefined
    remember(cookie, clock() + lifetime)
    return { id: idOf(cookie) }
  }

  return {
    open: cookie => (cookie === undefined ? undefined : find(cookie)) ?? create(),
    find,
    create,
    expiry,
  }
}

/** As many characters as the random part fills. */
function idOf(value: string): string {
  return value.slice(0, 21)
}

/** Sessions whose cookie another edge issues: whatever it is, it is one session; without it there is none (SSN-4). */
export function externalSessions(): Pick<SignedSessions, 'open'> {
  return { open: cookie => (cookie ? { id: hash('sha256', cookie).slice(0, 32) } : { id: '', missing: true }) }
}

/**
 * The value of one cookie in a `Cookie` field.
 *
 * @param field the field's value, as received
 * @param name cookie name
 */
export function cookieValue(field: string | undefined, name: string): string | undefined {
  if (field === undefined) return undefined
  let at = 0
  while (at < field.length) {
    let end = field.indexOf(';', at)
    if (end < 0) end = field.length
    while (field[at] === ' ') at++
    if (field.startsWith(name, at) && field[at + name.length] === '=')
      return field.slice(at + name.length + 1, end).trim()
    at = end + 1
  }
  return undefined
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
