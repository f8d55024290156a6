/** Addresses of Redis: one server, a set that sentinels watch, or a cluster. */

export interface RedisAddress {
  kind: 'server' | 'sentinel' | 'cluster'
  /** The server; or sentinels, or some nodes of the cluster. */
  hosts: { host: string; port: number }[]
  /** What the sentinels call the set. */
  name?: string
  username?: string
  password?: string
  /** Of the sentinels themselves. */
  sentinelPassword?: string
  /** Number of the database; clusters have only 0. */
  db: number
  tls: boolean
}

const SCHEMES: Readonly<Record<string, { kind?: RedisAddress['kind']; tls: boolean; port: number }>> = {
  redis: { tls: false, port: 6379 },
  rediss: { tls: true, port: 6379 },
  'redis+sentinel': { kind: 'sentinel', tls: false, port: 26379 },
  'rediss+sentinel': { kind: 'sentinel', tls: true, port: 26379 },
  'redis+cluster': { kind: 'cluster', tls: false, port: 6379 },
  'rediss+cluster': { kind: 'cluster', tls: true, port: 6379 },
}

const FORM = /^([a-z+]+):\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]+)(?:\/([^/?#\s]*))?(?:\?([^#\s]*))?$/
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/

/** What an address may look like, for messages. */
export const ADDRESS_FORMS =
  'a URL such as redis://127.0.0.1:6379/0 (rediss:// for TLS, several hosts for a cluster, redis+sentinel://host,host/name)'

/**
 * Reads `redis://user:password@host:port/db`; with several hosts it is a cluster. `redis+sentinel://host,host/name?db=0`
 * names sentinels, with a parameter `sentinelPassword` if they have one of their own.
 *
 * @returns undefined when it is no such address
 */
export function parseRedisAddress(written: string): RedisAddress | undefined {
  const [, scheme = '', user = '', hosts = '', path = '', query = ''] = FORM.exec(written) ?? []
  const known = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined
  if (!known) return undefined
  const parsed = hosts.split(',').map(host => parseHost(host, known.port))
  const complete = parsed.filter(host => host !== undefined)
  const kind = known.kind ?? (parsed.length > 1 ? 'cluster' : 'server')
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].some(name => !['db', 'sentinelPassword'].includes(name))
  const [username, password] = credentials(user)
  const named = kind === 'sentinel'
  const db = databaseOf(named ? (parameters.get('db') ?? '') : path)
  if (complete.length < parsed.length || unknown || password === null || db === undefined) return undefined
  if ((named && path === '') || (!named && query !== '') || (kind === 'cluster' && db !== 0)) return undefined
  const sentinelPassword = parameters.get('sentinelPassword')
  return {
    kind,
    hosts: complete,
    db,
    tls: known.tls,
    ...(named && { name: path }),
    ...(username && { username }),
    ...(password && { password }),
    ...(sentinelPassword && { sentinelPassword }),
  }
}

function parseHost(written: string, standard: number): { host: string; port: number } | undefined {
  const [, host, digits] = HOST.exec(written) ?? []
  const port = digits === undefined ? standard : Number(digits)
  if (host === undefined || port < 1 || port > 65_535) return undefined
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port }
}

/** Null for what cannot be decoded. */
function credentials(written: string): [string, string | null] {
  const colon = written.indexOf(':')
  const [user, password] = colon < 0 ? [written, ''] : [written.slice(0, colon), written.slice(colon + 1)]
  try {
    return [decodeURIComponent(user), decodeURIComponent(password)]
  } catch {
    return ['', null]
  }
}

function databaseOf(written: string): number | undefined {
  if (written === '') return 0
  return /^[0-9]{1,4}$/.test(written) ? Number(written) : undefined
}
