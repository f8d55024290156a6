/** Ends connections to Redis over which no answers come: what waits on them fails, and they are made anew. */

import { once } from 'node:events'
import type { Redis } from 'ioredis'
import { unlessAnswered } from '../../unless-answered.ts'

/**
 * Waits until what a connection is asked last was answered, or until it stands, and ends it where that takes too long. The
 * client's own timers cannot tell a Redis that is late from a process that was held up itself.
 */
async function ask(node: Redis, wait: number): Promise<void> {
  const { stream } = node
  const over = new AbortController()
  const timer = unlessAnswered(() => {
    if (!over.signal.aborted) stream.destroy(new Error(`Redis answered nothing for ${wait} ms`))
  }, wait)
  const { signal } = over
  const stands = () => Promise.race([once(node, 'ready', { signal }), once(stream, 'close', { signal })])
  await (node.status === 'ready' ? node.ping() : stands()).catch(() => undefined)
  clearTimeout(timer)
  over.abort()
}

/**
 * Asks connections over and over whether they still stand.
 *
 * @param nodes those that there are now
 * @param every milliseconds between two questions
 * @param wait milliseconds that an answer may take, and what is said when a connection begins
 * @returns ends it
 */
export function expectAnswers(nodes: () => readonly Redis[], every: number, wait: number): () => void {
  const asked = new WeakSet<Redis>()
  const timer = setInterval(() => {
    for (const node of nodes()) {
      if (asked.has(node) || (node.status !== 'ready' && node.status !== 'connect')) continue
      asked.add(node)
      void ask(node, wait).finally(() => asked.delete(node))
    }
  }, every).unref()
  return () => clearInterval(timer)
}
