/** Locks that several processes share, kept in Redis: every call is one run of one script. */

import { hash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Lock, LockError, type Locks, lockKey, MOST_LOCKS, MOST_SHARED } from '../locks.ts'
import type { RedisClient } from './connection.ts'

const SCRIPT = readFileSync(new URL('./locks.lua', import.meta.url), 'utf8')
const DIGEST = hash('sha1', SCRIPT)

/** Milliseconds that a lock lives on after a process that kept it alive has gone. */
const HELD = 30_000

/** Milliseconds between attempts to say which locks nobody was given. */
const SAY_AGAIN = 100

/** Locks ended by one script at most: Redis does nothing else meanwhile, and Lua takes no more than 8,000 arguments. */
const AT_ONCE = 1000

export interface RedisLocksOptions {
  /** A connection; it stays open when the locks are closed. */
  redis: RedisClient
  /** What all keys begin with. */
  prefix?: string
  /** Unix milliseconds; the clock of the Redis server if not given, so that all processes go by the same. */
  clock?: () => number
  /** Locks of one site at most. */
  most?: number
}

/** A lock as the script tells it. */
type Told = [token: string, path: string, scope: string, depth: string, owner: string, user: string, expires: string]

function lockOf([token, path, scope, depth, owner, user, expires]: Told): Lock {
  return {
    token,
    path,
    scope: scope === 'shared' ? 'shared' : 'exclusive',
    depth: depth === 'infinity' ? 'infinity' : 0,
    owner,
    user,
    expires: Number(expires),
  }
}

/** Whether Redis itself has said that it does not do it, such as for want of memory. */
function wasRefused(error: unknown): boolean {
  return error instanceof LockError && error.cause instanceof Error && error.cause.name === 'ReplyError'
}

/** Locks in a Redis of version 7 or newer. */
export function redisLocks({ redis, prefix = 'scriptorium', clock, most = MOST_LOCKS }: RedisLocksOptions): Locks {
  let closed = false
  /** Sites of locks, by token, of which nobody knows whether they were taken: they would be in everybody's way. */
  const doubtful = new Map<string, string>()
  let saying: NodeJS.Timeout | undefined

  /** Whether commands fail before they are sent. */
  const isAway = () => redis.status !== 'ready' && redis.options.enableOfflineQueue === false

  async function run<T>(site: string, operation: string, ...rest: readonly (string | number)[]): Promise<T> {
    if (closed) throw new LockError('Locks are closed')
    if (isAway()) throw new LockError('Redis is away')
    const parameters = [`${prefix}:locks:{${site}}`, operation, clock?.() ?? '', ...rest]
    try {
      return (await redis.evalsha(DIGEST, 1, ...parameters).catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return redis.eval(SCRIPT, 1, ...parameters)
        throw error
      })) as T
    } catch (cause) {
      throw new LockError('Locks cannot be reached', { cause })
    }
  }

  /** A Redis that hung may still carry out what was sent to it long ago: it is told until it answers. */
  async function sayOver(): Promise<void> {
    const say = async (of: string, tokens: readonly string[]) => {
      await run(of, 'give up', ...tokens)
      for (const token of tokens) doubtful.delete(token)
    }
    const told: Promise<void>[] = []
    if (!isAway())
      for (const [of, tokens] of Map.groupBy(doubtful.keys(), token => doubtful.get(token) ?? ''))
        for (let from = 0; from < tokens.length; from += AT_ONCE) told.push(say(of, tokens.slice(from, from + AT_ONCE)))
    await Promise.allSettled(told)
    saying = doubtful.size > 0 && !closed ? setTimeout(sayOver, SAY_AGAIN).unref() : undefined
  }

  /** Has a lock end, whether it was taken or is yet to be, when its taker is told that it could not be had. */
  function giveUp(site: string, token: string): void {
    if (closed) return
    doubtful.set(token, site)
    saying ??= setTimeout(sayOver, SAY_AGAIN).unref()
  }

  /**
   * Locks that a script tells of, which looks at some paths only before Redis does something else.
   *
   * @param most stops after that many locked paths
   */
  async function look(site: string, operation: string, path: string, most = Number.MAX_SAFE_INTEGER): Promise<Lock[]> {
    const found: Lock[] = []
    for (let left = most, from = ''; left > 0; ) {
      const [told, next] = await run<[Told[], string]>(site, operation, lockKey(path), from, left)
      const locks = told.map(lockOf)
      for (const lock of locks) found.push(lock)
      if (next === '') break
      from = next
      left -= new Set(locks.map(lock => lockKey(lock.path))).size
    }
    return found
  }

  return {
    async take(site, wanted) {
      const { path, scope, depth, owner, user, seconds } = wanted
      const token = `opaquelocktoken:${randomUUID()}`
      // What was never sent needs not be given up: nobody knows how many ask while Redis is away, or for how long.
      const isSent = !isAway()
      const [outcome, told] = await run<['taken' | 'held' | 'below', Told] | ['full' | 'again', undefined?]>(
        site,
        'take',
        ...[token, lockKey(path), path, scope, depth, owner, user, seconds * 1000, most, MOST_SHARED],
      ).catch((error: unknown) => {
        if (isSent && !wasRefused(error)) giveUp(site, token)
        throw error
      })
      // Many have expired, of which some were swept.
      if (outcome === 'again') return this.take(site, wanted)
      if (!told) return { ok: false, reason: 'full' }
      const lock = lockOf(told)
      if (outcome === 'taken') return { ok: true, lock }
      return { ok: false, reason: 'conflict', holder: lock, below: outcome === 'below' }
    },
    async find(site, token) {
      const told = await run<Told | null>(site, 'find', token)
      return told ? lockOf(told) : undefined
    },
    on: async (site, path) => (await run<Told[]>(site, 'on', lockKey(path))).map(lockOf),
    onMembers: (site, collection) => look(site, 'members', collection),
    below: (site, path, limit) => look(site, 'below', path, limit),
    async refresh(site, token, seconds) {
      const told = await run<Told | null>(site, 'refresh', token, seconds * 1000)
      return told ? lockOf(told) : undefined
    },
    async end(site, token) {
      return (await run<number>(site, 'end', token)) > 0
    },
    async endAll(site, tokens) {
      for (let from = 0; from < tokens.length; from += AT_ONCE)
        await run(site, 'end', ...tokens.slice(from, from + AT_ONCE))
    },
    async keepAlive(site, user, tokens) {
      const request = randomUUID()
      const hold = (wanted: readonly string[]) => run<string[]>(site, 'hold', request, user, HELD, ...wanted)
      const wanted = [...tokens]
      let kept = wanted.length === 0 ? [] : await hold(wanted)
      if (kept.length === 0) return { release: async () => undefined }
      // What fails is tried again; there is time for more than one attempt.
      const renewal = setInterval(() => void hold(kept).catch(() => undefined), HELD / 3).unref()
      return {
        async release() {
          clearInterval(renewal)
          const released = kept
          kept = []
          // Redis forgets the hold by itself when it cannot be told.
          if (released.length > 0) await run(site, 'release', request, ...released).catch(() => undefined)
        },
      }
    },
    async close() {
      closed = true
      clearTimeout(saying)
    },
  }
}
