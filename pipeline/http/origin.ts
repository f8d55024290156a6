/** Which page a write comes from: another page can never borrow a visitor's authority (HTTP-167). */

/** Methods of the public surface that change something. */
export const WRITES: ReadonlySet<string> = new Set(['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH'])

/** Facts of a request and its site. */
export interface Provenance {
  method: string
  /** The `Origin` field. */
  origin: string | undefined
  /** The `Sec-Fetch-Site` field. */
  fetchSite: string | undefined
  /** The site's own origin, by `ownOrigin`. */
  own: string
  /** Origins that the operator lists. */
  listed: ReadonlySet<string>
}

/**
 * @returns whether the request is a write from a foreign page; it is decided as anonymous and in a fresh session. A
 *   client that sends neither field is no browser page.
 */
export function isForeignWrite({ method, origin, fetchSite, own, listed }: Provenance): boolean {
  if (!WRITES.has(method)) return false
  if (origin !== undefined) return origin !== own && !listed.has(origin)
  return fetchSite === 'cross-site' || fetchSite === 'same-site'
}

/**
 * Builds an origin as browsers write it.
 *
 * @param secure the public scheme is https, directly or as a trusted proxy tells
 * @param authority public host with port
 */
export function ownOrigin(secure: boolean, authority: string): string {
  const host = authority.toLowerCase()
  const defaultPort = secure ? ':443' : ':80'
  const name = host.endsWith(defaultPort) ? host.slice(0, -defaultPort.length) : host
  return secure ? `https://${name}` : `http://${name}`
}
