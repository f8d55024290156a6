/** Who a request of the mount comes from: Basic or Bearer credentials, checked once a minute (MNT-1, DAV-3). */

import { hash, randomBytes } from 'node:crypto'
import { credentialCheck } from '../../config/credentials.ts'
import { PasswordsBusy } from '../../config/passwords.ts'
import type { Credential } from '../../config/site-schema.ts'
import { Fault } from '../../pipeline/fault.ts'
import type { Attempts } from './login-throttle.ts'
import { createScope, type Scope } from './scope.ts'

/** A credential that was proved. */
export interface Visitor {
  user: string
  scope: Scope
  /** The same for credentials of one site that get the same answers to all reads. */
  view: string
}

/** Credentials as a request brings them. */
export type Brought = { scheme: 'basic'; user: string; password: string } | { scheme: 'bearer'; token: string }

/** Milliseconds that a verdict is remembered: hashing a password takes long on purpose. */
const REMEMBERED = 60_000
const MOST_REMEMBERED = 1_000

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * Reads an `Authorization` field.
 *
 * @returns undefined for anything that brings no credentials, which is answered like an absent field: an unknown
 *   scheme, an empty `Bearer` as Office sends it, undecodable base64
 */
export function readAuthorization(field: string | undefined): Brought | undefined {
  const [, scheme = '', rest = ''] = /^ *([A-Za-z]+) +([^ ]+) *$/.exec(field ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: rest }
  if (scheme.toLowerCase() !== 'basic' || !BASE64.test(rest)) return undefined
  const text = decode(Buffer.from(rest, 'base64'))
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  // Windows puts its domain in front, with one backslash or, from scripts, two.
  const user = text.slice(0, colon).replace(/^[^\\]*\\\\?/, '')
  return { scheme: 'basic', user, password: text.slice(colon + 1) }
}

/** Old clients know no UTF-8. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

export interface Gatekeeper {
  /**
   * The visitor of credentials that were proved a moment ago.
   *
   * @param field the `Authorization` field
   */
  remembered(field: string | undefined): Visitor | undefined
  /**
   * @param field the `Authorization` field
   * @param address of the client, for slowing down those who guess
   * @returns undefined without credentials, and for wrong ones
   * @throws Fault 503 when too many passwords are being checked
   */
  visitor(field: string | undefined, address: string): Promise<Visitor | undefined> | Visitor | undefined
}

/**
 * @param credentials of one site
 * @param attempts counts failures; shared by all sites
 * @param clock unix milliseconds
 */
export function createGatekeeper(
  credentials: readonly Credential[],
  attempts: Attempts,
  clock: () => number = Date.now,
): Gatekeeper {
  const check = credentialCheck(credentials)
  const visitors = new Map(
    credentials.map((credential, i) => {
      const scope = createScope(credential.scope, credential.write)
      const view = scope.whole ? `whole ${scope.write}` : String(i)
      return [credential, { user: credential.user, scope, view }] as const
    }),
  )
  // What was brought is a secret, so that only a keyed digest of it is kept. HMAC as an object would cost 40 times as
  // much as two plain digests, on every request.
  const secret = randomBytes(32).toString('base64')
  const keyed = (text: string) => hash('sha256', secret + hash('sha256', secret + text, 'base64'), 'base64')
  const verdicts = new Map<string, { visitor: Visitor; until: number }>()
  const checking = new Map<string, Promise<Visitor | undefined>>()

  async function prove(brought: Brought, key: string, address: string): Promise<Visitor | undefined> {
    const user = brought.scheme === 'basic' ? brought.user : ''
    await attempts.wait(address, user)
    const credential = await (brought.scheme === 'basic'
      ? check.basic(brought.user, brought.password)
      : check.bearer(brought.token)
    ).catch((error: unknown) => {
      throw error instanceof PasswordsBusy ? busy(error) : error
    })
    const visitor = credential && visitors.get(credential)
    if (!visitor) {
      await attempts.failed(address, user)
      return undefined
    }
    await attempts.succeeded(address, user)
    if (verdicts.size >= MOST_REMEMBERED) {
      const [oldest] = verdicts.keys()
      if (oldest !== undefined) verdicts.delete(oldest)
    }
    verdicts.set(key, { visitor, until: clock() + REMEMBERED })
    return visitor
  }

  function recall(key: string): Visitor | undefined {
    const verdict = verdicts.get(key)
    if (verdict && verdict.until > clock()) return verdict.visitor
    verdicts.delete(key)
    return undefined
  }

  return {
    remembered: field => (field === undefined ? undefined : recall(keyed(field))),
    visitor(field, address) {
      if (field === undefined) return undefined
      const key = keyed(field)
      const known = recall(key)
      if (known) return known
      const running = checking.get(key)
      if (running) return running
      const brought = readAuthorization(field)
      if (!brought) return undefined
      const proving = prove(brought, key, address).finally(() => checking.delete(key))
      checking.set(key, proving)
      return proving
    },
  }
}

function busy(cause: unknown): Fault {
  return new Fault(503, 'Unavailable', 'Too many passwords are being checked. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  })
}
