/** A Redis of the tests' own: on a free port, in a folder of its own, gone afterwards. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { parseRedisAddress } from '../../../pipeline/coordination/redis/address.ts'
import { connectRedis, type RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { freePort } from '../../support/ports.ts'

export interface TestRedis {
  port: number
  /** As settings name it. */
  url: string
  /** A connection for looking and disturbing, closed with the server. */
  readonly admin: Redis
  /** A connection of its own, closed with the server. */
  connect(): Redis
  /** The connections of a process; its owner closes them. */
  open(): Promise<RedisConnection>
  /** Ends the server at once; nothing that it held survives. */
  kill(): Promise<void>
  /** Has it stand still, as a process that hangs does: connections stay, nothing is answered. */
  hang(): void
  /** Has it go on: it carries out what it was sent meanwhile. */
  goOn(): void
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Settles when a connection is up. */
  until(connection: RedisConnection): Promise<void>
  /** Ends the server at once, with what belongs to it. */
  stop(): Promise<void>
}

/**
 * Starts `redis-server`, and waits for a line that it prints.
 *
 * @throws with what it said, when it ends before
 */
export async function spawnRedis(settings: readonly string[], awaited: RegExp): Promise<ChildProcess> {
  const server = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  let isReady = false
  for await (const line of createInterface({ input: server.stdout })) {
    said.push(line)
    isReady = awaited.test(line)
    if (isReady) break
  }
  if (!isReady) throw new Error(`redis-server did not start: ${said.join('\n')}`)
  server.stdout.resume()
  return server
}

/** Commands that came after Redis 6.0, which several distributions still bring: there are none in tests. */
const LATER = [
  'COPY',
  'GETDEL',
  'GETEX',
  'HRANDFIELD',
  'LMOVE',
  'SMISMEMBER',
  'ZDIFF',
  'ZINTER',
  'ZMSCORE',
  'ZRANDMEMBER',
]

function spawnServer(port: number, folder: string, more: readonly string[]): Promise<ChildProcess> {
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const missing = LATER.flatMap(command => ['--rename-command', command, ''])
  return spawnRedis([...settings, ...missing, ...more], /ready to accept connections/i)
}

export interface RedisSettings {
  /** More arguments of the server. */
  arguments?: readonly string[]
  password?: string
}

/** @throws when the server cannot be started */
export async function startRedis(settings: RedisSettings = {}): Promise<TestRedis> {
  const { password } = settings
  const more = [...(settings.arguments ?? []), ...(password === undefined ? [] : ['--requirepass', password])]
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'redis-'))
  const url = `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}/0`
  let server = await spawnServer(port, folder, more)
  const connections: Redis[] = []
  let admin: Redis | undefined

  function connect(): Redis {
    const redis = new Redis(port, '127.0.0.1', {
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      ...(password !== undefined && { password }),
    })
    redis.on('error', () => undefined)
    connections.push(redis)
    return redis
  }

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
    admin = undefined
  }

  return {
    port,
    url,
    get admin() {
      return (admin ??= connect())
    },
    connect,
    async open() {
      const address = parseRedisAddress(url)
      if (!address) throw new Error(`no address: ${url}`)
      return connectRedis(address)
    },
    kill,
    hang: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    async start() {
      server = await spawnServer(port, folder, more)
    },
    async until(connection) {
      // Attempts may fail before one succeeds.
      while (!connection.isUp()) await new Promise(resolve => setTimeout(resolve, 10))
    },
    async stop() {
      for (const redis of connections) redis.disconnect()
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
