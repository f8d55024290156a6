/** The `Destination` field of MOVE and COPY (HTTP-105, DAV-48). */

import { Fault } from '../fault.ts'
import { trimField } from './field-text.ts'
import { decodeTarget, type PathRules, splitAbsolute } from './path.ts'

/**
 * Reads `Destination`: an absolute path, or an absolute URL of this host. The scheme does not matter, since TLS may end
 * in front of the server.
 *
 * @param header as Node delivers it
 * @param rules on the public host query and fragment are ignored; on the mount a raw `#` is refused, because clients
 *   that send one mean a name (DAV-10)
 * @param own authorities by which this surface is known: the request's `Host`, configured names, what a trusted proxy
 *   forwards
 * @param user the requester's name, which `git push` and others leave in addresses that they were given with it; an
 *   address with any other user information is another one
 * @returns the decoded path
 * @throws Fault 400 `InvalidPath`, 414 `UriTooLong`, 502 `BadGateway`
 */
export function parseDestination(header: string, rules: PathRules, own: readonly string[], user?: string): string {
  let reference = trimField(header)
  if (!reference.startsWith('/')) {
    const absolute = splitAbsolute(reference)
    if (!absolute) {
      throw new Fault(400, 'InvalidPath', 'Destination must be an absolute path or an absolute URL of this host.')
    }
    const authority = withoutDefaultPort(withoutUser(absolute.authority, user))
    if (!own.some(name => withoutDefaultPort(name) === authority)) {
      if (!URL.canParse(`http://${authority}/`))
        throw new Fault(400, 'InvalidPath', 'Destination is an absolute URL whose host cannot be read.')
      throw new Fault(502, 'BadGateway', 'Destination names another host; resources move within this host only.')
    }
    reference = absolute.reference
  }
  if (rules === 'public') {
    const fragment = reference.indexOf('#')
    if (fragment >= 0) reference = reference.slice(0, fragment)
  }
  return decodeTarget(reference, rules, true).path
}

/** Takes away the user's own name, with or without a password. */
function withoutUser(authority: string, user: string | undefined): string {
  const at = authority.lastIndexOf('@')
  const [name = ''] = authority.slice(0, at).split(':', 1)
  return at > 0 && user !== undefined && decoded(name) === user ? authority.slice(at + 1) : authority
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}

/** Lower case, without `:80` and `:443`: proxies and clients disagree about writing them. */
function withoutDefaultPort(authority: string): string {
  return authority.toLowerCase().replace(/:(?:80|443)?$/, '')
}
