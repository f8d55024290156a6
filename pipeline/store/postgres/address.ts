/** Addresses of databases as operators write them. */

import { Unusable } from '../errors.ts'
import type { DatabaseAddress } from './connection.ts'

export interface WrittenAddress extends DatabaseAddress {
  connections?: number
}

/** Parameters that are this store's own: what is left of the URL is the client's. */
const OWN = ['passwordFile', 'search_path', 'connections', 'target_session_attrs'] as const

/** Scheme and account, hosts, and what comes behind. */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]+)([/?#]\S*)?$/

/** Several hosts are asked for the one that takes writes, whichever of the words of libpq says so. */
const WRITABLE = ['read-write', 'primary', 'any']

/**
 * Reads `postgres://user@host:5432/database?passwordFile=/run/secrets/db&search_path=site&connections=8`, with several
 * hosts (`user@one:5432,two:5432`) for a primary and those that may take its place.
 *
 * @returns undefined for a text that is none
 */
export function databaseAddress(written: string): WrittenAddress | undefined {
  const [, head = '', hosts = '', rest = ''] = FORM.exec(written) ?? []
  const [url, ...others] = hosts.split(',').map(host => placeOf(head + host + rest))
  const known = others.filter(each => each !== undefined)
  if (url === undefined || known.length < others.length) return undefined
  const { passwordFile, search_path: schema, connections, target_session_attrs: wanted } = url.own
  const size = connections === undefined ? undefined : Number(connections)
  if (size !== undefined && !(Number.isInteger(size) && size > 0 && size <= 100)) return undefined
  if (wanted !== undefined && !WRITABLE.includes(wanted)) return undefined
  return {
    url: url.href,
    ...(known.length > 0 && { others: known.map(({ href }) => href) }),
    ...(passwordFile !== undefined && { passwordFile }),
    ...(schema !== undefined && { schema }),
    ...(size !== undefined && { connections: size }),
  }
}

/** The address of one host, without the parameters that are not the client's. */
function placeOf(written: string) {
  if (!URL.canParse(written)) return undefined
  const url = new URL(written)
  if (url.hostname === '') return undefined
  const own: Partial<Record<(typeof OWN)[number], string>> = {}
  for (const name of OWN) {
    const value = url.searchParams.get(name)
    if (value !== null) own[name] = value
    url.searchParams.delete(name)
  }
  return { href: url.href, own }
}

/** A database without what is secret, for messages. */
export function databaseName({ url }: Pick<DatabaseAddress, 'url'>): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** What the client says where the database wants a password and there is none. */
const NO_PASSWORD = /client password must be a string/

/** An error of the database as operators are told it. */
export function unusable(address: Pick<DatabaseAddress, 'url'>, cause: unknown): Unusable {
  const { message, code = '' } = (cause ?? {}) as { message?: string; code?: string }
  const reason = NO_PASSWORD.test(message ?? '') ? 'it asks for a password; name its file with passwordFile' : message
  return new Unusable(`the database ${databaseName(address)} cannot be used: ${reason || code}`, { cause })
}
