/**
 * The connections of a process to Redis: one for commands, one that listens. Both come back by themselves; while they
 * are away every command fails at once, so that nobody waits for what may never come.
 */

import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { lazyPackage } from '../../lazy-package.ts'
import type { RedisAddress } from './address.ts'
import { expectAnswers } from './answers.ts'

const ioredis = lazyPackage<typeof import('ioredis')>('ioredis')

/** A server, or a cluster of them, that takes commands. */
export type RedisClient = Redis | Cluster

export interface RedisConnection {
  readonly redis: RedisClient
  /** Whether commands have somebody to go to now. */
  isUp(): boolean
  /**
   * Has a function told of every message on a channel.
   *
   * @returns settles when Redis passes them on, or when listening has to begin anew, which is told; never fails
   */
  hear(channel: string, listener: (message: string) => void): Promise<void>
  /** Has a function called whenever listening begins anew: messages sent before may have been missed. */
  onResume(listener: () => void): void
  /** Has a function called whenever a connection that took commands has ended: Redis may have lost what it held. */
  onLost(listener: () => void): void
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** Milliseconds to wait for the first connection; then the process starts without. */
  patience?: number
  /** Milliseconds between questions whether a connection still stands; one that does not answer is made anew. */
  every?: number
  /** Milliseconds that an answer may take, of a sentinel as well: one that gives none is passed over. */
  answer?: number
  /** Milliseconds that a Redis which has refused a write is there before it counts as back: the next one may be refused too. */
  calm?: number
  /** Milliseconds after which a Redis that lets nobody listen is asked again. */
  deaf?: number
  /** Told when the connection comes and goes. */
  report?: (level: 'info' | 'warn', message: string, details: object) => void
}

/**
 * Milliseconds between questions whether a connection still stands, and those that an answer may take. Answers come in the
 * order of what was asked: a connection that gives none is ended, so that all who wait on it fail, and writes are refused
 * within two seconds.
 */
const EVERY = 500
const ANSWER = 1000
/** The same for a Redis that takes no writes, until it counts as back. */
const CALM = 5000
/** Milliseconds until a Redis that lets nobody listen is asked again: its user may have no channels. */
const DEAF = 5000
/** Milliseconds that the making of a connection may take. */
const CONNECT = 3000
/** Milliseconds between attempts to connect: they grow from the one to the other. */
const RETRY = { least: 50, most: 2000 }

/** Spread, so that the processes of an installation do not come back in one moment. */
function pause(attempt: number): number {
  const grown = Math.min(RETRY.least * 2 ** Math.min(attempt, 10), RETRY.most)
  return Math.round(grown * (0.5 + Math.random() / 2))
}

/** @param refused told of a write that a master which was made a replica has refused */
function nodeOptions({ username, password, db, tls }: RedisAddress, refused?: (error: Error) => void): RedisOptions {
  return {
    db,
    connectTimeout: CONNECT,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    lazyConnect: true,
    retryStrategy: pause,
    // A master that was made a replica keeps its connections; the address leads to the new one.
    reconnectOnError(error) {
      if (!error.message.startsWith('READONLY')) return false
      refused?.(error)
      return true
    },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  }
}

function clientOf(address: RedisAddress, answer: number, refused: (error: Error) => void): RedisClient {
  if (address.kind !== 'cluster') return serverOf(address, answer, refused)
  const { retryStrategy: _, ...redisOptions } = nodeOptions(address)
  return new (ioredis().Cluster)(address.hosts, {
    redisOptions,
    clusterRetryStrategy: pause,
    enableOfflineQueue: false,
    lazyConnect: true,
  })
}

function serverOf(address: RedisAddress, answer: number, refused?: (error: Error) => void): Redis {
  const { kind, hosts, name, sentinelPassword, tls } = address
  const node = nodeOptions(address, refused)
  if (kind !== 'sentinel') return new (ioredis().Redis)({ ...node, ...hosts[0] })
  return new (ioredis().Redis)({
    ...node,
    sentinels: hosts,
    name: name ?? '',
    sentinelRetryStrategy: pause,
    // One that hangs takes connections and says nothing; the client would wait for it without an end.
    sentinelCommandTimeout: answer,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  })
}

/**
 * The connection that listens. Every node of a cluster passes on all messages, so one to any of them will do; the one
 * that the client for clusters would make does not say when it has been away.
 */
function listenerOf(address: RedisAddress, answer: number, commands: RedisClient): Redis {
  if (!(commands instanceof ioredis().Cluster)) return serverOf(address, answer)
  const nodes = () => [
    ...address.hosts,
    ...commands.nodes('all').map(({ options: { host, port } }) => ({ host, port })),
  ]
  const listener: Redis = new (ioredis().Redis)({
    ...nodeOptions(address),
    ...address.hosts[0],
    retryStrategy(attempt) {
      const known = nodes()
      Object.assign(listener.options, known[attempt % known.length])
      return pause(attempt)
    },
  })
  return listener
}

/** Connects, or gives up waiting for it: the connections come when Redis does. */
export async function connectRedis(address: RedisAddress, options: ConnectionOptions = {}): Promise<RedisConnection> {
  const {
    patience = 3000,
    every = EVERY,
    answer = ANSWER,
    calm = CALM,
    deaf = DEAF,
    report = () => undefined,
  } = options
  /** The write that it has refused last, until it counts as back. */
  let refusal: Error | undefined
  const redis = clientOf(address, answer, error => {
    refusal = error
  })
  const listening = listenerOf(address, answer, redis)
  const channels = new Map<string, (message: string) => void>()
  const resumed = new Set<() => void>()
  const ended = new Set<() => void>()
  let wasUp = true
  /** Nobody has been told yet why it is away. */
  let isUnexplained = false
  /** There is a connection for commands, or one has just ended. */
  let isConnected = false
  let isClosed = false
  /** It was told that nobody may listen. */
  let isTold = false

  const isUp = () => redis.status === 'ready'
  const lost = (error?: Error) => {
    if (isClosed || !(wasUp || (isUnexplained && error))) return
    report('warn', wasUp ? 'Redis is away' : 'Redis cannot be reached', { ...(error && { reason: error.message }) })
    wasUp = false
    isUnexplained = error === undefined
  }

  let calming: NodeJS.Timeout | undefined
  const back = () => {
    if (!wasUp) report('info', 'Redis is back', {})
    wasUp = true
    refusal = undefined
  }

  async function subscribe(): Promise<void> {
    if (channels.size > 0) await listening.subscribe(...channels.keys())
    if (isClosed) return
    isTold = false
    for (const listener of resumed) listener()
  }

  let again: NodeJS.Timeout | undefined
  function listenAgain(error: Error): void {
    if (isClosed) return
    // What was lost is made anew at once; what was refused would be refused again.
    if (error.name !== 'ReplyError') {
      listening.disconnect(true)
      return
    }
    if (!isTold) report('warn', 'Redis lets nobody listen to it', { reason: error.message })
    isTold = true
    again ??= setTimeout(() => {
      again = undefined
      listening.disconnect(true)
    }, deaf).unref()
  }

  // Errors of a connection are followed by its end, which is what counts.
  redis.on('error', error => {
    // It is away for another reason than the one that was told.
    isUnexplained ||= refusal !== undefined
    refusal = undefined
    lost(error)
  })
  const tellEnd = () => {
    for (const listener of ended) listener()
  }
  redis.on('close', () => {
    clearTimeout(calming)
    lost(refusal)
    // So do attempts to connect that fail: nothing was held since.
    if (isConnected) tellEnd()
    isConnected = false
  })
  // A cluster goes on without one of its nodes.
  redis.on('-node', tellEnd)
  redis.on('ready', () => {
    isConnected = true
    if (refusal === undefined) back()
    else calming = setTimeout(back, calm).unref()
  })
  listening.on('error', () => undefined)
  listening.on('ready', () => void subscribe().catch(listenAgain))
  listening.on('message', (channel: string, message: string) => {
    if (!isClosed) channels.get(channel)?.(message)
  })

  // A connection that was cut off in silence shows only when it is asked.
  const nodes = () => (redis instanceof ioredis().Redis ? [redis] : redis.nodes('all'))
  const endQuestions = expectAnswers(() => [...nodes(), listening], every, answer)

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
    async hear(channel, listener) {
      channels.set(channel, listener)
      if (listening.status === 'ready') await listening.subscribe(channel).catch(listenAgain)
    },
    onResume(listener) {
      resumed.add(listener)
    },
    onLost(listener) {
      ended.add(listener)
    },
    async close() {
      isClosed = true
      clearTimeout(calming)
      clearTimeout(again)
      endQuestions()
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

/**
 * Whether a Redis keeps on disk what it holds. Locks of the mount that it forgets with its process are open to everybody.
 *
 * @returns undefined where it does not tell, as hosted ones do
 */
export async function isPersisted(redis: Pick<RedisClient, 'config'>): Promise<boolean | undefined> {
  try {
    const values = [await redis.config('GET', 'save'), await redis.config('GET', 'appendonly')]
    const [save, log] = values.map(answer => (Array.isArray(answer) ? String(answer[1] ?? '') : ''))
    return save !== '' || log === 'yes'
  } catch {
    return undefined
  }
}

/** Whether a Redis drops what it holds where its memory is full, as caches do: locks and sign-ins with the rest. */
export async function isForgetful(redis: Pick<RedisClient, 'info'>): Promise<boolean> {
  const said = await redis.info('memory').catch(() => '')
  const [, limit = '0'] = /^maxmemory:(\d+)/m.exec(said) ?? []
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(said) ?? []
  return limit !== '0' && policy !== 'noeviction'
}
