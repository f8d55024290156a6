/** Addresses of databases as operators write them. */

import type { DatabaseAddress } from './connection.ts'

export interface WrittenAddress extends DatabaseAddress {
  connections?: number
}

/** Parameters that are this store's own: what is left of the URL is the client's. */
const OWN = ['passwordFile', 'search_path', 'connections'] as const

/**
 * Reads `postgres://user@host:5432/database?passwordFile=/run/secrets/db&search_path=site&connections=8`.
 *
 * @returns undefined for a text that is none
 */
export function databaseAddress(written: string): WrittenAddress | undefined {
  if (!URL.canParse(written)) return undefined
  const url = new URL(written)
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return undefined
  const [passwordFile, schema, connections] = OWN.map(name => url.searchParams.get(name) ?? undefined)
  for (const name of OWN) url.searchParams.delete(name)
  const size = connections === undefined ? undefined : Number(connections)
  if (size !== undefined && !(Number.isInteger(size) && size > 0 && size <= 100)) return undefined
  return {
    url: url.href,
    ...(passwordFile !== undefined && { passwordFile }),
    ...(schema !== undefined && { schema }),
    ...(size !== undefined && { connections: size }),
  }
}
