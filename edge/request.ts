/**
 * What both surfaces read of the head of a request: how its client reached the server, directly or through a proxy whose
 * forwarding headers are believed, and fields.
 */

import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TrustProxy } from '../config/schema.ts'
import { Fault } from '../pipeline/fault.ts'
import { trimField } from '../pipeline/http/field-text.ts'
import { isLocalName } from '../pipeline/http/network.ts'

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

/** Whether what comes from an address, `behind` that many believed proxies, comes from another one of them. */
export type TrustsProxy = (address: string, behind: number) => boolean

/** @param trust the setting `trustProxy` */
export function proxyTrust(trust: TrustProxy): TrustsProxy {
  if (!Array.isArray(trust)) return (_address, behind) => behind < Number(trust)
  const list = new BlockList()
  for (const entry of trust) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return address => {
    const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address
    const family = isIP(mapped)
    return family !== 0 && list.check(mapped, family === 6 ? 'ipv6' : 'ipv4')
  }
}

export function clientReader(trusts: TrustsProxy): KnowClient {
  return request => {
    const { socket, headers } = request
    const peer = socket.remoteAddress ?? ''
    const direct: Client = {
      authority: absoluteAuthority(request.url) ?? headers.host,
      secure: (socket as Partial<TLSSocket>).encrypted === true,
      address: peer,
    }
    if (!trusts(peer, 0)) return direct
    const chain = valuesOf(headers['x-forwarded-for']).map(withoutPort)
    const proxies = believed(chain, trusts)
    const told = (field: string | string[] | undefined) => outermost(valuesOf(field), proxies)
    return {
      authority: told(headers['x-forwarded-host']) ?? direct.authority,
      secure: told(headers['x-forwarded-proto'])?.toLowerCase() === 'https' || direct.secure,
      address: outermost(chain, proxies) ?? peer,
    }
  }
}

/**
 * Names by which a `Destination` may call the host of a request. Behind a proxy, whatever `Host` it sends, the public
 * address is one of them.
 *
 * @param publicUrl address of the public surface, where the settings name one
 * @returns hosts with ports; first the one that the client asked for
 */
export function authoritiesOf(client: Client, request: IncomingMessage, publicUrl: string | undefined): string[] {
  const names = [client.authority, request.headers.host, publicUrl?.replace(/^https?:\/\//, '')]
  return names.filter(name => name !== undefined)
}

/** An absolute-form target overrides `Host` (RFC 9112 §3.2.2). */
function absoluteAuthority(url: string | undefined): string | undefined {
  return url?.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(url ?? '')?.[1]
}

/** Every proxy adds a value at the end, or a line of its own. */
function valuesOf(field: string | string[] | undefined): string[] {
  const values = [field ?? []].flat().join(',').split(',')
  return values.map(trimField).filter(value => value !== '')
}

/** Some proxies tell the port of the client as well, which is another one for every connection. */
function withoutPort(address: string): string {
  return /^\[([0-9a-f:.%]+)\](?::\d+)?$/i.exec(address)?.[1] ?? /^([0-9.]+):\d+$/.exec(address)?.[1] ?? address
}

/**
 * How many proxies are believed, one behind the other: the peer, and from the end of the chain those before it.
 *
 * @param chain addresses that each proxy was spoken to from
 */
function believed(chain: readonly string[], trusts: TrustsProxy): number {
  let proxies = 1
  while (proxies < chain.length && trusts(chain.at(-proxies) ?? '', proxies)) proxies++
  return proxies
}

/** What the outermost of so many proxies has said. Before it stands what the client says itself. */
function outermost(values: readonly string[], proxies: number): string | undefined {
  return values.at(-proxies) ?? values[0]
}

/**
 * Whether the peer is a process of this machine that speaks for itself: neither a proxy, nor a browser whose page comes from
 * a name that somebody else has had lead here. Either of them says that name, so an address or `localhost` has to be asked.
 * A proxy that is told nothing says the address of this server, and mostly in HTTP/1.0.
 */
export function isLocal(request: IncomingMessage): boolean {
  const { headers, socket, url } = request
  if (request.httpVersion === '1.0') return false
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false
  const host = (absoluteAuthority(url) ?? headers.host ?? '').replace(/:\d*$/, '')
  if (isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 && !isLocalName(host)) return false
  const address = socket.remoteAddress ?? ''
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.')
}

/** A request header as one string; repeated fields are joined as RFC 9110 §5.3 says. @param name lower case */
export function header({ request }: { request: IncomingMessage }, name: string): string | undefined {
  const { headers } = request
  // Every object has a `constructor`.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return Array.isArray(value) ? value.join(', ') : value
}

/** `Destination`, of which there can be one: several would be a path together. @throws Fault 400 */
export function destinationField(exchange: { request: IncomingMessage }): string | undefined {
  if ((exchange.request.headersDistinct.destination?.length ?? 0) > 1)
    throw new Fault(400, 'BadRequest', 'There can be only one Destination.')
  return header(exchange, 'destination')
}

/** `Overwrite: F`, in any case; an absent field means `T`. Of several, one that keeps what is there is enough. */
export function mayOverwrite(exchange: { request: IncomingMessage }): boolean {
  const values = header(exchange, 'overwrite')?.split(',') ?? []
  return !values.some(value => trimField(value).toUpperCase() === 'F')
}

/**
 * Bodies are stored whole and as they are sent (HTTP-83, DAV-43).
 *
 * @throws Fault 415 for a content coding, 400 for a PUT of a part of a body
 */
export function checkBodyFields(exchange: { request: IncomingMessage }): void {
  const coding = header(exchange, 'content-encoding')
  if (coding !== undefined && trimField(coding).toLowerCase() !== 'identity')
    throw new Fault(415, 'UnsupportedMediaType', 'Send the body without Content-Encoding.')
  if (exchange.request.method === 'PUT' && header(exchange, 'content-range') !== undefined)
    throw new Fault(
      400,
      'BadRequest',
      'Content-Range is not allowed on PUT; send the whole, or write one element with Range: selector=….',
    )
}
