/**
 * The connections of a process to Redis: one for commands, one that listens. Both come back by themselves; while they
 * are away every command fails at once, so that nobody waits for what may never come.
 */

import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from './address.ts'

/** A server, or a cluster of them, that takes commands. */
export type RedisClient = Redis | Cluster

export interface RedisConnection {
  readonly redis: RedisClient
  /** Whether commands have somebody to go to now. */
  isUp(): boolean
  /** Has a function told of every message on a channel. */
  hear(channel: string, listener: (message: string) => void): void
  /** Has a function called whenever listening begins anew: messages sent before may have been missed. */
  onResume(listener: () => void): void
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** Milliseconds to wait for the first connection; then the process starts without. */
  patience?: number
  /** Told when the connection comes and goes. */
  report?: (level: 'info' | 'warn', message: string, details: object) => void
}

/** Milliseconds that a command may take, and the making of a connection. */
const COMMAND = 2000
const CONNECT = 3000
/** Milliseconds between attempts to connect: they grow from the one to the other. */
const RETRY = { least: 50, most: 2000 }

/** Spread, so that the processes of an installation do not come back in one moment. */
function pause(attempt: number): number {
  const grown = Math.min(RETRY.least * 2 ** Math.min(attempt, 10), RETRY.most)
  return Math.round(grown * (0.5 + Math.random() / 2))
}

function clientOf(address: RedisAddress): RedisClient {
  const { kind, hosts, name, username, password, sentinelPassword, db, tls } = address
  const node: RedisOptions = {
    db,
    connectTimeout: CONNECT,
    commandTimeout: COMMAND,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    lazyConnect: true,
    retryStrategy: pause,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  }
  if (kind === 'cluster') {
    const { retryStrategy: _, ...redisOptions } = node
    return new Cluster(hosts, {
      redisOptions,
      clusterRetryStrategy: pause,
      enableOfflineQueue: false,
      lazyConnect: true,
    })
  }
  if (kind === 'sentinel') {
    return new Redis({
      ...node,
      sentinels: hosts,
      name: name ?? '',
      sentinelRetryStrategy: pause,
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    })
  }
  return new Redis({ ...node, ...hosts[0] })
}

/** Connects, or gives up waiting for it: the connections come when Redis does. */
export async function connectRedis(address: RedisAddress, options: ConnectionOptions = {}): Promise<RedisConnection> {
  const { patience = 3000, report = () => undefined } = options
  const redis = clientOf(address)
  const listening = clientOf(address)
  const channels = new Map<string, (message: string) => void>()
  const resumed = new Set<() => void>()
  let wasUp = true
  let isClosed = false

  const isUp = () => redis.status === 'ready'
  const lost = (error?: Error) => {
    if (isClosed || !wasUp) return
    wasUp = false
    report('warn', 'Redis is away', { ...(error && { reason: error.message }) })
  }

  async function subscribe(): Promise<void> {
    if (channels.size > 0) await listening.subscribe(...channels.keys())
    if (!isClosed) for (const listener of resumed) listener()
  }

  // Errors of a connection are followed by its end, which is what counts.
  redis.on('error', lost)
  redis.on('close', () => lost())
  redis.on('ready', () => {
    if (!wasUp) report('info', 'Redis is back', {})
    wasUp = true
  })
  listening.on('error', () => undefined)
  // What fails here fails because the connection has gone again.
  listening.on('ready', () => void subscribe().catch(() => undefined))
  listening.on('message', (channel: string, message: string) => {
    if (!isClosed) channels.get(channel)?.(message)
  })

  const connected = Promise.all([redis, listening].map(client => firstConnection(client)))
  let timer: NodeJS.Timeout | undefined
  const tired = new Promise<void>(resolve => {
    timer = setTimeout(resolve, patience)
  })
  await Promise.race([connected, tired])
  clearTimeout(timer)

  return {
    redis,
    isUp,
    hear(channel, listener) {
      channels.set(channel, listener)
      if (listening.status === 'ready') listening.subscribe(channel).catch(() => undefined)
    },
    onResume(listener) {
      resumed.add(listener)
    },
    async close() {
      isClosed = true
      redis.disconnect()
      listening.disconnect()
    },
  }
}

function firstConnection(client: RedisClient): Promise<void> {
  return new Promise(resolve => {
    client.once('ready', () => resolve())
    // It fails as often as it likes: the next attempt is under way by then.
    client.connect().catch(() => undefined)
  })
}
