/**
 * Write leases of several processes. Writers of one process queue up among themselves, so that each process stands in the
 * queue of a path only once; Redis hands the lease from one process to the next.
 */

import { randomUUID } from 'node:crypto'
import { LeaseError, type Leases, LeaseTimeout, touches } from '../leases.ts'
import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

const SCRIPT = redisScript('./leases.lua')

/** Milliseconds that a lease outlives a process that has gone. */
const LIFE = 5000
/** Writers of one process that come one after another before those of others have their turn. */
const TURNS = 16

export interface RedisLeasesOptions {
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** Milliseconds a writer waits for its turn before it is told to come again. */
  patience?: number
  /** Milliseconds after which somebody who waits asks again, in case word was lost. */
  lookAgain?: number
}

interface Waiter {
  /** Called with the lease, or without: then the writer has to take it. */
  grant: (name: string | undefined) => void
}

/** The writers of one path in this process. */
interface Lane {
  waiting: Waiter[]
  /** Writers since this process took the lease. */
  turns: number
}

export interface RedisLeases extends Leases {
  /** Has all leases that are held live on; happens by itself often enough. */
  keep(): Promise<void>
  /** Keeps nothing alive any more. */
  close(): void
}

export function redisLeases({
  connection,
  prefix = 'scriptorium',
  patience = 10_000,
  lookAgain = 500,
}: RedisLeasesOptions): RedisLeases {
  const { redis } = connection
  const channel = `${prefix}:leases`
  const self = randomUUID()
  let attempts = 0
  const lanes = new Map<string, Lane>()
  /** Those who wait for another process, by name. */
  const abroad = new Map<string, () => void>()
  /** Names under which leases are held, by path. */
  const held = new Map<string, { name: string; site: string; path: string }>()

  const keysOf = (site: string, path: string) => [
    `${prefix}:lease:{${site}}:${path}`,
    `${prefix}:lease-queue:{${site}}:${path}`,
  ]
  const run = (operation: string, site: string, path: string, name: string) =>
    SCRIPT(redis, keysOf(site, path), [operation, name, channel, LIFE])
  /** What cannot be given back vanishes by itself. */
  const leave = (site: string, path: string, name: string) => void run('leave', site, path, name).catch(() => undefined)

  connection.hear(channel, name => abroad.get(name)?.())

  async function keep(): Promise<void> {
    // A lease that was lost is not taken back: what its work decided by is asked again when it commits.
    await Promise.allSettled([...held.values()].map(({ name, site, path }) => run('keep', site, path, name)))
  }
  const keeping = setInterval(() => void keep(), LIFE / 3).unref()

  /** Listens for word that a name was given a lease; word that comes before somebody waits for it counts as well. */
  function listen(name: string) {
    let given = Promise.withResolvers<void>()
    abroad.set(name, () => given.resolve())
    return {
      /** Settles with the word, or when it is time to ask again. */
      async word(most: number): Promise<void> {
        const timer = setTimeout(() => given.resolve(), most)
        await given.promise
        clearTimeout(timer)
        given = Promise.withResolvers()
      },
      end: () => void abroad.delete(name),
    }
  }

  /** Takes the lease from Redis for this process. */
  async function take(site: string, path: string, deadline: number): Promise<string> {
    const name = `${self}:${++attempts}`
    const listening = listen(name)
    try {
      while ((await run('take', site, path, name)) !== 1) {
        const left = deadline - performance.now()
        if (left <= 0) throw new LeaseTimeout(path)
        await listening.word(Math.min(left, lookAgain))
      }
    } catch (cause) {
      leave(site, path, name)
      throw cause instanceof LeaseTimeout ? cause : new LeaseError('Leases cannot be had', { cause })
    } finally {
      listening.end()
    }
    return name
  }

  /** Waits for those of this process who came before. @returns the name under which the lease is held already, if it is */
  function queueUp(lane: Lane, path: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const at = lane.waiting.indexOf(waiter)
        if (at >= 0) lane.waiting.splice(at, 1)
        reject(new LeaseTimeout(path))
      }, patience)
      const waiter: Waiter = {
        grant: name => {
          clearTimeout(timer)
          resolve(name)
        },
      }
      lane.waiting.push(waiter)
    })
  }

  async function acquire(key: string, site: string, path: string): Promise<void> {
    const deadline = performance.now() + patience
    const lane = lanes.get(key)
    let name: string | undefined
    if (lane) name = await queueUp(lane, path)
    else lanes.set(key, { waiting: [], turns: 0 })
    if (name !== undefined) return
    try {
      held.set(key, { name: await take(site, path, deadline), site, path })
    } catch (error) {
      next(key, undefined)
      throw error
    }
  }

  /** Lets the next writer of this process have its turn. */
  function next(key: string, name: string | undefined): void {
    const lane = lanes.get(key)
    const waiter = lane?.waiting.shift()
    if (lane && waiter) {
      lane.turns = name === undefined ? 0 : lane.turns + 1
      waiter.grant(name)
    } else lanes.delete(key)
  }

  function release(key: string): void {
    const lease = held.get(key)
    const lane = lanes.get(key)
    if (lease && lane && lane.waiting.length > 0 && lane.turns < TURNS) {
      next(key, lease.name)
      return
    }
    held.delete(key)
    if (lease) leave(lease.site, lease.path, lease.name)
    next(key, undefined)
  }

  return {
    async hold(site, paths, work) {
      // Ascending order, so that two writers of the same paths can never wait for each other.
      const wanted = paths.length === 1 ? paths : [...new Set(paths)].sort()
      const acquired: string[] = []
      try {
        for (const path of wanted) {
          const key = `${site}\n${path}`
          await acquire(key, site, path)
          acquired.push(key)
        }
        return await work()
      } finally {
        for (const key of acquired.reverse()) release(key)
      }
    },
    async outlast(site, path) {
      const above = Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index + 1))
      const ofProcess = Array.from(held.values()).filter(lease => lease.site === site && touches(lease.path, path))
      const paths = new Set([path, path.endsWith('/') ? path.slice(0, -1) : `${path}/`, ...above])
      for (const lease of ofProcess) paths.add(lease.path)
      await Promise.all(Array.from(paths, each => this.hold(site, [each], async () => undefined)))
    },
    keep,
    close: () => clearInterval(keeping),
  }
}
