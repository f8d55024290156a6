/** Commands that several requests of one turn of the event loop send to Redis go out in one write to the socket. */

import type { Writable } from 'node:stream'
import type { RedisClient } from './connection.ts'

const corked = new WeakSet<Writable>()

/** To be called before a command is sent. Clients of clusters have a connection for each node, and send at once. */
export function gather(redis: RedisClient): void {
  const stream = 'stream' in redis ? (redis.stream as Writable | undefined) : undefined
  if (stream === undefined || corked.has(stream)) return
  corked.add(stream)
  stream.cork()
  setImmediate(() => {
    corked.delete(stream)
    stream.uncork()
  })
}
