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

/**
 * Ends connections on which nobody has begun to ask anything for too long, keys of TLS included.
 *
 * @param accepted the oldest first, each with the milliseconds of when it came
 * @param most how many at most
 */
export function endSilent<Connection extends { destroy(): unknown }>(
  accepted: Iterable<readonly [Connection, number]>,
  hasAsked: (connection: Connection) => boolean,
  most: number,
  now = performance.now(),
): void {
  let ended = 0
  for (const [connection, since] of accepted) {
    if (ended >= most || now - since < BEGINNING) break
    if (hasAsked(connection)) continue
    connection.destroy()
    ended++
  }
}
