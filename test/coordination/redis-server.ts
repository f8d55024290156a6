/** A Redis of the tests' own: on a free port, in a folder of its own, gone afterwards. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'

export interface TestRedis {
  /** A connection of its own, closed with the server. */
  connect(): Redis
  /** Ends the server at once. */
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** @throws when the server cannot be started */
export async function startRedis(): Promise<TestRedis> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  const said: string[] = []
  for await (const line of createInterface({ input: server.stdout })) {
    said.push(line)
    if (/ready to accept connections/i.test(line)) break
  }
  if (server.exitCode !== null) throw new Error(`redis-server did not start: ${said.join('\n')}`)
  server.stdout.resume()
  const connections: Redis[] = []
  return {
    connect() {
      const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 0, retryStrategy: () => null })
      redis.on('error', () => undefined)
      connections.push(redis)
      return redis
    },
    async stop() {
      for (const redis of connections) redis.disconnect()
      server.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
