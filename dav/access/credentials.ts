/** Who a request of the mount comes from: Basic or Bearer credentials, checked once a minute (MNT-1, DAV-3). */

import { isUtf8 } from 'node:buffer'
import { hash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'basic-auth'
import { credentialCheck } from '../../config/credentials.ts'
import { PasswordsBusy } from '../../config/passwords.ts'
import type { Credential } from '../../config/site-schema.ts'
import { Fault } from '../../pipeline/fault.ts'
import { OrderedMap } from '../../pipeline/ordered-map.ts'
import { normalForm } from '../../pipeline/tree/normal-form.ts'
import type { LoginThrottle } from './login-throttle.ts'
import { createScope, type Scope } from './scope.ts'

/** A credential that was proved. */
export interface Author {
  user: string
  /** What of the settings it was proved by. */
  credential: Credential
  scope: Scope
  /** The same for credentials of one site that get the same answers to all reads. */
  view: string
}

/** Credentials as a request brings them. */
export type Brought = { scheme: 'basic'; user: string; password: string } | { scheme: 'bearer'; token: string }

/** What was found out about credentials, and until when it holds. */
interface Verdict {
  author: Author
  until: number
}

/** Milliseconds that a verdict is remembered: hashing a password takes long on purpose. */
const REMEMBERED = 60_000
const MOST_REMEMBERED = 1_000
/** Characters of a field that is kept with its connection: whoever is proved may have put a domain of 20 KB before the name. */
const LONGEST_ON_CONNECTION = 1_024

/**
 * Reads an `Authorization` field.
 *
 * @returns undefined for anything that brings no credentials, which is answered like an absent field: an unknown
 *   scheme, an empty `Bearer` as Office sends it, undecodable base64
 */
function readAuthorization(field: string | undefined): Brought | undefined {
  if (field === undefined) return undefined
  const [, token] = /^ *bearer +([^ ]+) *$/i.exec(field) ?? []
  if (token !== undefined) return { scheme: 'bearer', token }
  const basic = parse(inUtf8(field))
  if (!basic) return undefined
  // Windows puts its domain in front, with one backslash or, from scripts, two.
  const user = basic.name.replace(/^[^\\]*\\\\?/, '')
  return { scheme: 'basic', user, password: basic.pass }
}

/** The same field with its text in UTF-8, as `basic-auth` reads it: old clients send Latin-1. */
function inUtf8(field: string): string {
  const [, start = '', base64 = ''] = /^( *[A-Za-z]+ +)([^ ]+) *$/.exec(field) ?? []
  const bytes = Buffer.from(base64, 'base64')
  return isUtf8(bytes) ? field : start + Buffer.from(bytes.toString('latin1')).toString('base64')
}

export interface Gatekeeper {
  /**
   * The author of credentials that were proved a moment ago.
   *
   * @param field the `Authorization` field
   * @param connection what it came on: the same field there needs no digest
   */
  remembered(field: string | undefined, connection: object): Author | undefined
  /**
   * @param field the `Authorization` field
   * @param address of the client, for slowing down those who guess
   * @returns undefined without credentials, and for wrong ones
   * @throws Fault 503 when too many passwords are being checked
   */
  author(field: string | undefined, address: string): Promise<Author | undefined> | Author | undefined
  /** Whether the settings, as they are now, have the credential of somebody who was an author before. */
  knows(author: Author): boolean
}

/**
 * @param credentials of one site
 * @param throttle counts attempts
 * @param clock milliseconds; by default they pass as they do, whatever the clock of the system is set to
 */
export function createGatekeeper(
  credentials: readonly Credential[],
  throttle: LoginThrottle,
  clock: () => number = () => performance.now(),
): Gatekeeper {
  const check = credentialCheck(credentials)
  const authors = new Map(
    credentials.map(credential => {
      const scope = createScope(credential.scope, credential.write, credential.configure)
      // By what it says, not by its place: credentials come and go while answers are kept.
      const view = scope.whole ? `whole ${scope.write}` : JSON.stringify([credential.scope, credential.write])
      return [credential, { user: credential.user, credential, scope, view }] as const
    }),
  )
  // What was brought is a secret, so that only a keyed digest of it is kept. HMAC as an object would cost 40 times as
  // much as two plain digests, on every request.
  const secret = randomBytes(32).toString('base64')
  const keyed = (text: string) => hash('sha256', secret + hash('sha256', secret + text, 'base64'), 'base64')
  const verdicts = new OrderedMap<string, Verdict>()
  /** The field itself, if it is short, as long as its connection is there. */
  const onConnection = new WeakMap<object, { field: string; verdict: Verdict }>()
  const checking = new Map<string, Promise<Author | undefined>>()

  async function prove(brought: Brought, key: string, address: string): Promise<Author | undefined> {
    // As the check reads it: each spelling of a name would have attempts of its own.
    const user = brought.scheme === 'basic' ? normalForm(brought.user) : ''
    const author = await throttle.attempt(address, user, async () => {
      const credential = await (brought.scheme === 'basic'
        ? check.basic(brought.user, brought.password)
        : check.bearer(brought.token)
      ).catch((error: unknown) => {
        throw error instanceof PasswordsBusy ? busy(error) : error
      })
      return credential && authors.get(credential)
    })
    if (!author) return undefined
    if (verdicts.size >= MOST_REMEMBERED && verdicts.oldest !== undefined) verdicts.delete(verdicts.oldest)
    verdicts.set(key, { author, until: clock() + REMEMBERED })
    return author
  }

  function recall(key: string): Verdict | undefined {
    const verdict = verdicts.get(key)
    if (verdict && verdict.until > clock()) return verdict
    verdicts.delete(key)
    return undefined
  }

  return {
    remembered(field, connection) {
      if (field === undefined) return undefined
      const before = onConnection.get(connection)
      if (before?.field === field && before.verdict.until > clock()) return before.verdict.author
      const verdict = recall(keyed(field))
      if (verdict && field.length <= LONGEST_ON_CONNECTION) onConnection.set(connection, { field, verdict })
      else if (before) onConnection.delete(connection)
      return verdict?.author
    },
    author(field, address) {
      if (field === undefined) return undefined
      const key = keyed(field)
      const known = recall(key)
      if (known) return known.author
      const running = checking.get(key)
      if (running) return running
      const brought = readAuthorization(field)
      if (!brought) return undefined
      const proving = prove(brought, key, address).finally(() => checking.delete(key))
      checking.set(key, proving)
      return proving
    },
    knows: ({ credential }) => authors.has(credential) || credentials.some(each => isDeepStrictEqual(each, credential)),
  }
}

function busy(cause: unknown): Fault {
  return new Fault(503, 'Unavailable', 'Too many passwords are being checked. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  })
}

/** Reveals nothing of what is asked for (MNT-1). */
export function challenge(): Fault {
  return new Fault(401, 'Unauthorized', 'Sign in with the user name and password of this mount.', {
    headers: { 'WWW-Authenticate': 'Basic realm="WebDAV", charset="UTF-8"' },
  })
}

/** Refuses whose credential the operator has withdrawn or changed since the request began. @throws Fault 401 */
export function requireKnown({ gatekeeper }: { gatekeeper: Gatekeeper }, author: Author): void {
  if (!gatekeeper.knows(author)) throw challenge()
}

/** Office asks for a password again and again when a document is opened from a mapped drive, unless these two succeed. */
export function isOfficeProbe({ method, headers }: IncomingMessage): boolean {
  return (method === 'OPTIONS' || method === 'HEAD') && headers['user-agent']?.startsWith('Microsoft Office') === true
}
