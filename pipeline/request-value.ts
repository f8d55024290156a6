/**
 * The request as code and pages see it (COMP-22, REA-40, IDC-1): a dictionary that tells whether anything was read from it
 * that belongs to one visitor, which makes an answer private.
 */

import type { Identity } from './access/identity.ts'
import type { Fields } from './http/conditions.ts'
import { decodeField } from './http/field-text.ts'
import { type Dictionary, FixedDictionary, LazyDictionary, type Value } from './language/values.ts'
import { asciiLower } from './tree/ascii.ts'

export interface RequestParts {
  /** Upper case, as received. */
  method: string
  /** Decoded, without query; on a route the concrete path. */
  path: string
  /** Host name without port. */
  host: string
  /** Raw, without `?`. */
  query: string
  /** What a parameter is that was sent several times: all of its values (COMP-22), or the first (REA-40). */
  repeated: 'list' | 'first'
  headers: Fields
  /** Name of the server's own session cookie, which nobody is shown (COMP-148). */
  sessionCookie: string
  /** Captures of a parameterized route, by name (COMP-99). */
  params: ReadonlyMap<string, string>
  body: Value
  /** Who asks; undefined when nobody is signed in. */
  identity: Identity | undefined
}

const MEMBERS = ['method', 'path', 'host', 'headers', 'query', 'params', 'body', 'auth'] as const
type Member = (typeof MEMBERS)[number]

/** Members that differ from visitor to visitor (COMP-22). */
const PRIVATE: ReadonlySet<Member> = new Set<Member>(['headers', 'auth'])

function isMember(key: string): key is Member {
  return (MEMBERS as readonly string[]).includes(key)
}

/** Read-only. Its members are made when they are asked for, each once. */
export class RequestValue extends LazyDictionary {
  readonly #make: Readonly<Record<Member, () => Value>>
  readonly #made = new Map<Member, Value>()
  #isPrivate = false

  constructor(parts: RequestParts) {
    super()
    this.#make = {
      method: () => parts.method,
      path: () => parts.path,
      host: () => parts.host,
      headers: () => new HeaderValues(shownFields(parts.headers, parts.sessionCookie)),
      query: () => queryValue(parts.query, parts.repeated),
      params: () => new FixedDictionary(parts.params),
      body: () => parts.body,
      auth: () => authValue(parts.identity),
    }
  }

  /** Whether a member was read that differs from visitor to visitor, or all members were (COMP-22, JS-28). */
  get isPrivate(): boolean {
    return this.#isPrivate
  }

  get(key: string): Value | undefined {
    if (!isMember(key)) return undefined
    if (PRIVATE.has(key)) this.#isPrivate = true
    let value = this.#made.get(key)
    if (value === undefined) this.#made.set(key, (value = this.#make[key]()))
    return value
  }

  keys(): Iterable<string> {
    this.#isPrivate = true
    return MEMBERS
  }
}

/** Fields by name in whatever case (REA-41); names are told in lower case. */
export class HeaderValues extends LazyDictionary {
  readonly #fields: ReadonlyMap<string, string>

  /** @param fields by names in lower case */
  constructor(fields: ReadonlyMap<string, string>) {
    super()
    this.#fields = fields
  }

  get(key: string): Value | undefined {
    return this.#fields.get(asciiLower(key))
  }

  keys(): Iterable<string> {
    return this.#fields.keys()
  }
}

/**
 * The fields of a request as code and pages see them, by names in lower case; repeated ones are joined by `, `.
 *
 * @param sessionCookie name of the server's own cookie, which nobody is shown (COMP-148)
 */
export function shownFields(fields: Fields, sessionCookie: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const [name, field] of Object.entries(fields)) {
    if (field === undefined) continue
    const text = typeof field === 'string' ? field : field.join(', ')
    const shown = name === 'cookie' ? withoutCookie(text, sessionCookie) : text
    if (shown !== undefined) values.set(name, decodeField(shown))
  }
  return values
}

/** @returns undefined when no other cookie is left */
function withoutCookie(field: string, name: string): string | undefined {
  const others = field.split(';').filter(cookie => {
    const [written = ''] = cookie.split('=', 1)
    return cookie.trim() !== '' && written.trim() !== name
  })
  return others.length === 0 ? undefined : others.map(cookie => cookie.trim()).join('; ')
}

/** Decoded parameters, by name. */
function queryValue(query: string, repeated: RequestParts['repeated']): Dictionary {
  const first = repeated === 'first'
  const values = new Map<string, Value[]>()
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values.get(name)
    if (!known) values.set(name, [value])
    else if (!first) known.push(value)
  }
  return new FixedDictionary(Array.from(values, ([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]))
}

/** Both spellings of the list of roles reach it (IDC-1); of somebody anonymous, all of it is empty. */
function authValue(identity: Identity | undefined): Dictionary {
  if (!identity) return new NobodysIdentity()
  const { username, claims, roles } = identity
  return new FixedDictionary([
    ['username', username],
    ['claims', jsonValue(claims)],
    ['role', roles],
    ['roles', roles],
  ])
}

/** Shows what REA-40 says, and has nothing to show under the other names of IDC-1. */
class NobodysIdentity extends LazyDictionary {
  get(key: string): Value | undefined {
    if (key === 'claims') return new FixedDictionary()
    return key === 'roles' || key === 'role' ? [] : undefined
  }

  keys(): Iterable<string> {
    return ['claims', 'roles']
  }
}

/** Nesting of claims at most; what lies deeper is left out. */
const DEEPEST_CLAIM = 32

/** JSON as a value. Whole numbers that a float holds exactly become Integers. */
export function jsonValue(json: unknown, depth = 0): Value {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json
  if (typeof json !== 'object' || json === null || depth === DEEPEST_CLAIM) return null
  if (Array.isArray(json)) return json.map(each => jsonValue(each, depth + 1))
  return new FixedDictionary(Object.entries(json).map(([name, each]) => [name, jsonValue(each, depth + 1)]))
}
