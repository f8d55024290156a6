/** Where an address belongs to, and which names stay on this machine. */

import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Characters of the longest address. */
const LONGEST = 45

/**
 * The place that an address belongs to, for counting what comes from there: providers give one customer a whole IPv6
 * network, so that single addresses of it tell nobody apart.
 *
 * @returns an IPv4 address, however it is written, or the first 64 bits of an IPv6 address; what is neither, up to the
 *   length that they can have
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address.slice(0, LONGEST)
  const [head = '', tail] = address.toLowerCase().replace(/%.*/s, '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const behind = tail ? tail.split(':').length : 0
  if (tail !== undefined) while (groups.length + behind < 8) groups.push('0')
  return [...groups, ...(tail?.split(':') ?? [])]
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** Names that mean this machine wherever they are resolved (RFC 6761). */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}

/** Whether a host of a URL is this machine, by a name for it or by an address of its own; nobody is asked for other names. */
export function isHere(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) return isLocalName(host)
  if (host === '::1' || /^127\./.test(host)) return true
  return Object.values(networkInterfaces()).some(each => each?.some(({ address }) => address === host))
}
