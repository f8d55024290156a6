/**
 * Clients that keep connections for nothing: where others find no room, those have to go who have asked nothing yet, and those
 * who take nothing of their answers; the longest first.
 */

import type { Socket } from 'node:net'

/** Milliseconds for which nothing was taken. Whoever is slow takes something meanwhile, whatever lies in buffers on the way. */
const PATIENCE = 60_000

/** What Node knows of bytes that the system has not taken yet, also in the middle of a write. */
type Sending = Pick<Socket, 'writableLength' | 'bytesWritten'> & {
  _handle?: { writeQueueSize?: number } | null
  destroy(): unknown
}

/**
 * @param now milliseconds
 * @returns looks how far answers have come, and ends some of which nothing was taken for too long, by what earlier looks have seen
 */
export function endStalled(now = () => performance.now()): (connections: Iterable<Sending>, most: number) => void {
  const seen = new WeakMap<Sending, { progress: string; since: number }>()
  return (connections, most) => {
    const stalled: [since: number, connection: Sending][] = []
    for (const connection of connections) {
      const queued = connection._handle?.writeQueueSize ?? 0
      if (connection.writableLength === 0 && queued === 0) continue
      const progress = `${connection.bytesWritten} ${queued}`
      let state = seen.get(connection)
      if (state?.progress !== progress) seen.set(connection, (state = { progress, since: now() }))
      if (now() - state.since >= PATIENCE) stalled.push([state.since, connection])
    }
    stalled.sort(([a], [b]) => a - b)
    for (const [, connection] of stalled.slice(0, most)) connection.destroy()
  }
}

/** Milliseconds that a connection has for the beginning of its first request. */
const BEGINNING = 5_000

/** So many connections of one network on which nobody has asked anything are a crowd: it makes room for others at once. */
const CROWD = 32

/** Connections that one look is about at most. */
const LOOKED_AT = 1_000

/** Whom a look for silent connections is about. */
interface SilentOptions<Connection> {
  hasAsked: (connection: Connection) => boolean
  /** Where a connection comes from; undefined where many clients come from there. */
  networkOf: (connection: Connection) => string | undefined
  /** How many may go of those that were silent for too long. */
  most: number
  /** How many may go in all where a crowd is among them. */
  ofCrowd: number
  now?: number
}

/**
 * Ends connections on which nobody has begun to ask anything: for too long, keys of TLS included, and of the largest crowd also
 * those that have just come. Who comes again and again would keep all others out.
 *
 * @param accepted the oldest first, each with the milliseconds of when it came
 */
export function endSilent<Connection extends { destroy(): unknown }>(
  accepted: Iterable<readonly [Connection, number]>,
  { hasAsked, networkOf, most, ofCrowd, now = performance.now() }: SilentOptions<Connection>,
): void {
  const crowds = new Map<string, Connection[]>()
  let [ended, looked] = [0, 0]
  for (const [connection, since] of accepted) {
    if (looked >= LOOKED_AT || ended >= Math.max(most, ofCrowd)) break
    if (hasAsked(connection)) continue
    looked++
    if (ended < most && now - since >= BEGINNING) {
      connection.destroy()
      ended++
      continue
    }
    const network = networkOf(connection)
    const crowd = network === undefined ? undefined : crowds.get(network)
    if (crowd) crowd.push(connection)
    else if (network !== undefined) crowds.set(network, [connection])
  }
  let largest: Connection[] = []
  for (const crowd of crowds.values()) if (crowd.length > largest.length) largest = crowd
  const more = Math.min(ofCrowd - ended, largest.length - CROWD + 1)
  for (const connection of largest.slice(0, Math.max(0, more))) connection.destroy()
}

/** What one customer of a provider has: an address of IPv4, or 64 bits of one of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':') || /^::ffff:[0-9.]+$/i.test(address)) return address
  const [before = '', behind] = address.split('::')
  const groups = before === '' ? [] : before.split(':')
  const left = behind === undefined || behind === '' ? [] : behind.split(':')
  return [...groups, ...new Array<string>(Math.max(0, 8 - groups.length - left.length)).fill('0'), ...left]
    .slice(0, 4)
    .join(':')
}
