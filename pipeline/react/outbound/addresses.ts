/** Which addresses outbound requests may go to (REA-87). */

import { BlockList, isIP, isIPv4 } from 'node:net'

/** What an address is, as far as calls are concerned. */
export type Reach = 'public' | 'local' | 'never'

/** Loopback and private networks: they can be called where the operator allows it. */
const LOCAL: readonly (readonly [network: string, bits: number])[] = [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
]

/** Networks that are not on the public Internet (RFC 6890 and the registries that keep its tables). */
const NEVER: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['100.64.0.0', 10],
  // Azure answers its machines there for itself, as with their link-local metadata address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

/** The only part of IPv6 that is given out for public use. */
const GLOBAL: readonly (readonly [network: string, bits: number])[] = [['2000::', 3]]

const local = listOf(LOCAL)
const never = listOf(NEVER)
const global = listOf(GLOBAL)

function listOf(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, isIPv4(network) ? 'ipv4' : 'ipv6')
  return list
}

/**
 * What is known of an address by itself.
 *
 * @param address IPv4 or IPv6 without brackets; a zone makes it link-local
 */
export function reachOf(address: string): Reach {
  const version = isIP(address)
  if (version === 4) return ofFamily(address, 'ipv4')
  if (version !== 6 || address.includes('%')) return 'never'
  const groups = groupsOf(address)
  const embedded = groups && embeddedIn(groups)
  // An address that stands for one of IPv4 goes where that one goes.
  if (embedded !== undefined) return reachOf(embedded)
  const reach = ofFamily(address, 'ipv6')
  if (reach === 'public' && !global.check(address, 'ipv6')) return 'never'
  const tunnelled = groups && throughIsatap(groups)
  if (tunnelled === undefined || reach === 'never') return reach
  // Its network counts as well as the address inside of it.
  const inner = reachOf(tunnelled)
  return inner === 'public' ? reach : inner
}

function ofFamily(address: string, family: 'ipv4' | 'ipv6'): Reach {
  if (local.check(address, family)) return 'local'
  return never.check(address, family) ? 'never' : 'public'
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] | undefined {
  const { hostname } = new URL(`http://[${address}]`)
  const [before = '', after] = hostname.slice(1, -1).split('::')
  const read = (part: string) => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16)))
  const [head, tail] = [read(before), read(after ?? '')]
  if (after === undefined) return head.length === 8 ? head : undefined
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** The IPv4 address inside of a mapped, compatible, translated (NAT64), 6to4 or Teredo address. */
function embeddedIn(groups: readonly number[]): string | undefined {
  const zeros = (from: number, to: number) => groups.slice(from, to).every(group => group === 0)
  const [g0 = 0, g1 = 0, g2 = 0, , , g5 = 0, g6 = 0, g7 = 0] = groups
  if (zeros(0, 5) && g5 === 0xffff) return dotted(g6, g7)
  if (zeros(0, 4) && groups[4] === 0xffff && g5 === 0) return dotted(g6, g7)
  if (zeros(0, 6) && !(g6 === 0 && g7 <= 1)) return dotted(g6, g7)
  if (g0 === 0x64 && g1 === 0xff9b && zeros(2, 6)) return dotted(g6, g7)
  // NAT64 of a network of its own: wherever in it the address stands, it is nobody's public one.
  if (g0 === 0x64 && g1 === 0xff9b) return '0.0.0.0'
  if (g0 === 0x2002) return dotted(g1, g2)
  if (g0 === 0x2001 && g1 === 0) return dotted(g6 ^ 0xffff, g7 ^ 0xffff)
  return undefined
}

/** The IPv4 address that an ISATAP address of any network ends with. */
function throughIsatap(groups: readonly number[]): string | undefined {
  const [, , , , g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups
  return (g4 === 0 || g4 === 0x200) && g5 === 0x5efe ? dotted(g6, g7) : undefined
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/**
 * Whether an address may be called.
 *
 * @param allowLocal the operator lets this site call loopback and private addresses
 */
export function mayCall(address: string, allowLocal: boolean): boolean {
  const reach = reachOf(address)
  return reach === 'public' || (reach === 'local' && allowLocal)
}
