/**
 * Write leases of several processes. Writers of one process queue up among themselves, so that each process stands in the
 * queue of a path only once; Redis hands the lease from one process to the next.
 */

import { randomUUID } from 'node:crypto'
import { LeaseError, type Leases, LeaseTimeout, touches } from '../leases.ts'
import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

const SCRIPT = redisScript('./leases.lua', true)

/** Milliseconds, unless somebody says otherwise. Half of them are as long as a commit may take once it is confirmed, and longer. */
export const LIFE = 3000
/** Milliseconds between attempts to say what has been given up. */
const SAY_AGAIN = 100
/** Operations of one script at most: Redis does nothing else meanwhile. */
const AT_ONCE = 64
/** Writers of one process that come one after another before those of others have their turn. */
const TURNS = 16

export interface RedisLeasesOptions {
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** Milliseconds that a lease outlives a process that has gone. */
  life?: number
  /** Milliseconds a writer waits for its turn before it is told to come again. */
  patience?: number
  /** Milliseconds after which somebody who waits asks again, in case word was lost. */
  lookAgain?: number
  /** Version of the newest commit that this process knows; told to whoever takes a lease of the site next. */
  newest?: () => number
}

/** One attempt of this process to have the lease of a path; each has a higher number than those before it. */
interface Attempt {
  site: string
  path: string
  number: number
  /** Until when it is surely held, by the clock of this process. */
  until: number
  /** Version of the newest commit of all who gave up leases of the site before, if that is known. */
  newest: number | undefined
}

type Operation = 'take' | 'leave' | 'keep' | 'give up'

/** What Redis is to be asked at the end of a turn of the event loop. */
interface Asked {
  operation: Operation
  attempt: Attempt
  resolve(answer: unknown): void
  reject(error: unknown): void
}

interface Waiter {
  /** Called with the lease, or without: then the writer has to take it. */
  grant: (lease: Attempt | undefined) => void
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
  life = LIFE,
  patience = 10_000,
  lookAgain = 500,
  newest: version = () => 0,
}: RedisLeasesOptions): RedisLeases {
  const { redis } = connection
  const channel = `${prefix}:leases`
  const self = randomUUID()
  let attempts = 0
  const lanes = new Map<string, Lane>()
  /** Those who wait for another process, by name. */
  const abroad = new Map<string, () => void>()
  /** Leases that are held, by path. */
  const held = new Map<string, Attempt>()
  /** Attempts of which Redis has not heard that they are over, the last of each path: they would hold up others. */
  const over = new Map<string, Attempt>()
  let saying: NodeJS.Timeout | undefined

  const keysOf = (site: string, path: string) => [
    `${prefix}:lease:{${site}}:${path}`,
    `${prefix}:lease-queue:{${site}}:${path}`,
    `${prefix}:lease-given-up:{${site}}:${path}`,
  ]

  /** Carries out the operations on leases of a site, in their order. */
  async function send(site: string, asked: readonly Asked[]): Promise<void> {
    const keys = asked.flatMap(({ attempt }) => keysOf(site, attempt.path))
    const operations = asked.flatMap(({ operation, attempt }) => [operation, attempt.number])
    try {
      const said = await SCRIPT(
        redis,
        [`${prefix}:lease-newest:{${site}}`, ...keys],
        [self, channel, life, version(), ...operations],
      )
      const [known, ...answers] = said as unknown[]
      for (const [i, { attempt, resolve }] of asked.entries()) {
        attempt.newest = known === '' ? undefined : Number(known)
        resolve(answers[i])
      }
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  const waiting = new Map<string, Asked[]>()
  function sendAll(): void {
    const all = [...waiting]
    waiting.clear()
    for (const [site, asked] of all)
      for (let from = 0; from < asked.length; from += AT_ONCE) void send(site, asked.slice(from, from + AT_ONCE))
  }

  const run = (operation: Operation, attempt: Attempt) =>
    new Promise<unknown>((resolve, reject) => {
      if (waiting.size === 0) setImmediate(sendAll)
      const asked = { operation, attempt, resolve, reject }
      const known = waiting.get(attempt.site)
      if (known === undefined) waiting.set(attempt.site, [asked])
      else known.push(asked)
    })

  function leave(attempt: Attempt): void {
    run('leave', attempt).catch(() => {
      const key = `${attempt.site}\n${attempt.path}`
      // Refusals need not come in the order of the attempts, and the last one speaks for those before it.
      if ((over.get(key)?.number ?? 0) < attempt.number) over.set(key, attempt)
      saying ??= setTimeout(sayOver, SAY_AGAIN).unref()
    })
  }

  /** A Redis that hung may still carry out what was sent to it long ago: it is told until it answers. */
  async function sayOver(): Promise<void> {
    const say = async ([key, attempt]: [string, Attempt]) => {
      await run('give up', attempt)
      if (over.get(key) === attempt) over.delete(key)
    }
    if (connection.isUp()) await Promise.allSettled(Array.from(over, say))
    saying = over.size > 0 ? setTimeout(sayOver, SAY_AGAIN).unref() : undefined
  }

  void connection.hear(channel, name => abroad.get(name)?.())
  // A Redis that was started again, or another one in its place, may have given them to somebody else by now.
  connection.onLost(() => {
    for (const attempt of held.values()) attempt.until = 0
  })

  async function keep(): Promise<void> {
    // A lease that was lost is not taken back: what its work decided by is asked again when it commits.
    await Promise.allSettled(Array.from(held.values(), keepOne))
  }

  /** @returns whether it is still held */
  async function keepOne(attempt: Attempt): Promise<boolean> {
    const asked = performance.now()
    if ((await run('keep', attempt)) !== 1) return false
    attempt.until = asked + life
    return true
  }
  const keeping = setInterval(() => void keep(), life / 3).unref()

  async function confirmAll(leases: readonly Attempt[]): Promise<boolean> {
    try {
      return (await Promise.all(leases.map(keepOne))).every(isHeld => isHeld)
    } catch (cause) {
      throw new LeaseError('Nobody knows who holds the lease', { cause })
    }
  }

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
  async function take(site: string, path: string, deadline: number): Promise<Attempt> {
    if (!connection.isUp()) throw new LeaseError('Leases cannot be had: Redis is away')
    const attempt: Attempt = { site, path, number: ++attempts, until: 0, newest: undefined }
    const listening = listen(`${self}:${attempt.number}`)
    try {
      for (;;) {
        const asked = performance.now()
        if ((await run('take', attempt)) === 1) {
          attempt.until = asked + life
          break
        }
        const left = deadline - performance.now()
        if (left <= 0) throw new LeaseTimeout(path)
        await listening.word(Math.min(left, lookAgain))
      }
    } catch (cause) {
      leave(attempt)
      throw cause instanceof LeaseTimeout ? cause : new LeaseError('Leases cannot be had', { cause })
    } finally {
      listening.end()
    }
    return attempt
  }

  /** Waits for those of this process who came before. @returns the lease if it is held already */
  function queueUp(lane: Lane, path: string): Promise<Attempt | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const at = lane.waiting.indexOf(waiter)
        if (at >= 0) lane.waiting.splice(at, 1)
        reject(new LeaseTimeout(path))
      }, patience)
      const waiter: Waiter = {
        grant: lease => {
          clearTimeout(timer)
          resolve(lease)
        },
      }
      lane.waiting.push(waiter)
    })
  }

  async function acquire(key: string, site: string, path: string): Promise<void> {
    const deadline = performance.now() + patience
    const lane = lanes.get(key)
    let lease: Attempt | undefined
    if (lane) lease = await queueUp(lane, path)
    else lanes.set(key, { waiting: [], turns: 0 })
    if (lease) return
    try {
      held.set(key, await take(site, path, deadline))
    } catch (error) {
      next(key, undefined)
      throw error
    }
  }

  /** Lets the next writer of this process have its turn. */
  function next(key: string, lease: Attempt | undefined): void {
    const lane = lanes.get(key)
    const waiter = lane?.waiting.shift()
    if (lane && waiter) {
      lane.turns = lease ? lane.turns + 1 : 0
      waiter.grant(lease)
    } else lanes.delete(key)
  }

  function release(key: string): void {
    const lease = held.get(key)
    const lane = lanes.get(key)
    if (lease && lane && lane.waiting.length > 0 && lane.turns < TURNS && performance.now() < lease.until) {
      next(key, lease)
      return
    }
    held.delete(key)
    if (lease) leave(lease)
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
        const known = acquired.map(key => held.get(key)?.newest ?? Number.NaN)
        const newest = Math.max(...known)
        return await (Number.isNaN(newest) ? work() : work(newest))
      } finally {
        for (const key of acquired.reverse()) release(key)
      }
    },
    confirm(site, paths) {
      const now = performance.now()
      const doubtful = paths.flatMap(path => {
        const lease = held.get(`${site}\n${path}`)
        return lease && lease.until - now < life / 2 ? [lease] : []
      })
      return doubtful.length === 0 || confirmAll(doubtful)
    },
    async outlast(site, path) {
      const above = Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index + 1))
      const ofProcess = Array.from(held.values()).filter(lease => lease.site === site && touches(lease.path, path))
      const paths = new Set([path, path.endsWith('/') ? path.slice(0, -1) : `${path}/`, ...above])
      for (const lease of ofProcess) paths.add(lease.path)
      await Promise.all(Array.from(paths, each => this.hold(site, [each], async () => undefined)))
    },
    keep,
    close() {
      clearInterval(keeping)
      clearTimeout(saying)
      over.clear()
    },
  }
}
