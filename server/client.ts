/** How a client reached the server: directly, or through a proxy whose forwarding headers are believed. */

import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'

export interface Client {
  /** Host and port that the client asks for, as it wrote them; undefined when it named none. */
  authority: string | undefined
  /** The client's side speaks TLS. */
  secure: boolean
  /** Address of the peer, or of the client behind believed proxies. */
  address: string
}

/** Reads the client's side of requests. */
export type KnowClient = (request: IncomingMessage) => Client

/**
 * @param trusts whether forwarding headers from this address are believed
 */
export function clientReader(trusts: (address: string) => boolean): KnowClient {
  return request => {
    const { socket, headers } = request
    const peer = socket.remoteAddress ?? ''
    const direct: Client = {
      authority: absoluteAuthority(request.url) ?? headers.host,
      secure: (socket as Partial<TLSSocket>).encrypted === true,
      address: peer,
    }
    if (!trusts(peer)) return direct
    return {
      authority: first(headers['x-forwarded-host']) ?? direct.authority,
      secure: first(headers['x-forwarded-proto'])?.toLowerCase() === 'https' || direct.secure,
      address: origin(headers['x-forwarded-for'], trusts) ?? peer,
    }
  }
}

/** An absolute-form target overrides `Host` (RFC 9112 §3.2.2). */
function absoluteAuthority(url: string | undefined): string | undefined {
  return url?.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(url ?? '')?.[1]
}

/** The client's end of a chain of proxies, or undefined for an absent or empty field. */
function first(field: string | string[] | undefined): string | undefined {
  const text = Array.isArray(field) ? field[0] : field
  const value = text?.split(',', 1)[0]?.trim()
  return value === '' ? undefined : value
}

/**
 * The client at the beginning of a chain of proxies: from the end of the chain the first address that is no believed proxy.
 * What stands before it is what the client says itself.
 */
function origin(field: string | string[] | undefined, trusts: (address: string) => boolean): string | undefined {
  const chain = [field ?? []]
    .flat()
    .join(',')
    .split(',')
    .map(address => address.trim())
  const addresses = chain.filter(address => address !== '')
  return addresses.findLast(address => !trusts(address)) ?? addresses[0]
}

/** Whether the peer is a process of this machine that no proxy stands in for. */
export function isLocal(request: IncomingMessage): boolean {
  const { headers, socket } = request
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false
  const address = socket.remoteAddress ?? ''
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
}
