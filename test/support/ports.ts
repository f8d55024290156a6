/** Ports for programs that cannot take port 0 and tell which one they got. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections and to port 0. One of those could be given to anybody before
 * the program takes it, or while it is restarted: even to a client that tries to reach the program, and then talks to
 * itself.
 */
const [LOWEST, HIGHEST] = [10_000, 32_000]

/** A port on 127.0.0.1 that nobody has taken. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
