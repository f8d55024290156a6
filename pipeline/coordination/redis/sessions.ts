/** Sessions that several processes share, kept in Redis: every change is one run of one script. */

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Ending, SessionError, type Sessions, type SessionValue, type SignIn } from '../sessions.ts'
import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

const SCRIPT = redisScript('./sessions.lua')

/** Milliseconds after which it is asked again which sessions have ended. */
const LEARN_AGAIN = 500

/** Marks of ended sessions are looked through whenever so many have been added. */
const SWEEP = 1000

/** Marks that are asked for at once, about: a site may have any number of them. */
const MARKS = 500

export interface RedisSessionsOptions {
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** Unix milliseconds. */
  clock?: () => number
  /** Told when it cannot be learned which sessions have ended; it is tried again until it is. */
  failed?: (error: unknown) => void
  /** Milliseconds between two attempts to learn that. */
  again?: number
}

/** What processes tell each other of a session that has ended; earlier releases pass over what they have told themselves. */
type Message = [process: string, site: string, id: string, until: number]

/** Opens the sessions. Without a connection, what ended earlier is learned when there is one. */
export async function openRedisSessions(options: RedisSessionsOptions): Promise<Sessions> {
  const {
    connection,
    prefix = 'scriptorium',
    clock = Date.now,
    failed = () => undefined,
    again = LEARN_AGAIN,
  } = options
  const { redis } = connection
  const self = randomUUID()
  const channel = `${prefix}:sessions`
  const allSites = `${prefix}:sessions:sites`
  /** Ends of marks in unix milliseconds, by site and id. */
  const ended = new Map<string, number>()
  const listeners = new Set<(site: string, id: string) => void>()
  let added = 0
  let closed = false

  const baseOf = (site: string) => `${prefix}:sessions:{${site}}`

  async function reach<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new SessionError('Sessions are closed')
    if (!connection.isUp()) throw new SessionError('Redis is away')
    try {
      return await work()
    } catch (cause) {
      throw new SessionError('Sessions cannot be reached', { cause })
    }
  }

  const run = (site: string, operation: string, ...rest: readonly (string | number)[]) =>
    reach(() => SCRIPT(redis, [baseOf(site)], [operation, clock(), ...rest]))

  function sweep(): void {
    added = 0
    const now = clock()
    for (const [key, until] of ended) if (until <= now) ended.delete(key)
  }

  /** Notes that a session has ended, and tells of it the first time. */
  function note(site: string, id: string, until: number): void {
    const key = keyOf(site, id)
    const isNews = !ended.has(key)
    ended.set(key, Math.max(until, ended.get(key) ?? 0))
    if (++added >= SWEEP) sweep()
    if (isNews) for (const listener of listeners) listener(site, id)
  }

  /**
   * Learns which sessions have ended while nobody told this process, and has those ended again that Redis knows nothing of:
   * after a fail-over, or with an older state from disk, it may hold their sign-ins once more.
   */
  async function learn(): Promise<void> {
    const told = new Set<string>()
    for (const site of await redis.smembers(allSites)) {
      let cursor = '0'
      do {
        const [next, marks] = await redis.zscan(`${baseOf(site)}:ended`, cursor, 'COUNT', MARKS)
        for (let i = 0; i < marks.length; i += 2) {
          const id = marks[i] ?? ''
          const until = Number(marks[i + 1])
          if (until < clock()) continue
          note(site, id, until)
          told.add(keyOf(site, id))
        }
        cursor = next
      } while (cursor !== '0')
    }
    for (const [key, until] of [...ended]) {
      const slash = key.lastIndexOf('/')
      if (until > clock() && !told.has(key))
        await finish(key.slice(0, slash), 'end', { id: key.slice(slash + 1), until })
    }
  }

  let learning: Promise<void> | undefined
  /** Learns it, however often Redis goes away meanwhile: listening may begin anew before commands are taken again. */
  async function learnSurely(): Promise<void> {
    // What was asked before listening began anew may be too early.
    await learning
    learning ??= untilDone(learn).finally(() => {
      learning = undefined
    })
    return learning
  }

  async function untilDone(work: () => Promise<void>): Promise<void> {
    for (let hasFailed = false; !closed; ) {
      // That Redis is away is told by the connection.
      if (connection.isUp())
        try {
          return await work()
        } catch (error) {
          if (!hasFailed) failed(error)
          hasFailed = true
        }
      await setTimeout(again, undefined, { ref: false })
    }
  }

  function hasEnded(site: string, id: string): boolean {
    const until = ended.get(keyOf(site, id))
    return until !== undefined && until > clock()
  }

  /** Runs a script that ends a session, and has the site known as one that has ended sessions. */
  async function finish(site: string, operation: string, { id, until }: Ending, ...rest: readonly (string | number)[]) {
    const message: Message = [self, site, id, until]
    // Sent together, so that changes of one session are carried out in the order of their calls.
    const [, done] = await Promise.all([
      reach(() => redis.sadd(allSites, site)),
      run(site, operation, id, until, channel, JSON.stringify(message), ...rest),
    ])
    if (done === 1) note(site, id, until)
    return done === 1
  }

  const listening = connection.hear(channel, message => {
    // Its own, too: the answer to its command may have been lost.
    const told = jsonIn(message)
    if (isMessage(told)) note(told[1], told[2], told[3])
  })
  connection.onResume(() => void learnSurely())
  // A node of a cluster may have gone with what it held, while the one that is listened to goes on.
  connection.onLost(() => void learnSurely())
  // What ends between the look and the word would be told to nobody.
  await listening
  if (connection.isUp())
    await learn().catch(error => {
      failed(error)
      void learnSurely()
    })

  return {
    async find(site, id) {
      if (hasEnded(site, id)) return undefined
      const kept = timed(await reach(() => redis.get(`${baseOf(site)}:signed:${id}`)), clock())
      const signIn = kept && jsonIn(kept.value)
      // What nobody can read signs nobody in.
      return isSignIn(signIn) && kept ? { signIn, expires: kept.expires } : undefined
    },
    async prolong(site, id, expires) {
      await run(site, 'prolong', id, expires)
    },
    signIn: (site, id, { signIn, expires }, follows) =>
      finish(site, 'sign-in', follows, id, expires, JSON.stringify(signIn)),
    async end(site, ending) {
      await finish(site, 'end', ending)
    },
    hasEnded,
    isSignedIn: async (site, id) =>
      !hasEnded(site, id) && (await reach(() => redis.exists(`${baseOf(site)}:signed:${id}`))) === 1,
    async value(site, id, name) {
      return timed(await reach(() => redis.hget(`${baseOf(site)}:held:${id}`, name)), clock())?.value
    },
    async values(site, id, prefix) {
      if (prefix === '') return []
      // Those alone, as a session may hold more than a request may read: content for as many pages as its visitor wrote to.
      const held = (await run(site, 'values', id, prefix)) as string[]
      const found: SessionValue[] = []
      for (let i = 0; i < held.length; i += 2) {
        const kept = timed(held[i + 1] ?? null, clock())
        if (kept) found.push({ name: held[i] ?? '', ...kept })
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    keep: async (site, id, { name, value, expires }) => (await run(site, 'keep', id, name, expires, value)) === 1,
    async take(site, id, name) {
      return timed((await run(site, 'take', id, name)) as string | null, clock())?.value
    },
    onEnd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
    },
  }
}

/** Ids have no slash. */
function keyOf(site: string, id: string): string {
  return `${site}/${id}`
}

/** What others have written to Redis; undefined for what is no JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isMessage(told: unknown): told is Message {
  if (!Array.isArray(told)) return false
  const [, site, id, until] = told as unknown[]
  return typeof site === 'string' && typeof id === 'string' && typeof until === 'number'
}

function isSignIn(value: unknown): value is SignIn {
  if (typeof value !== 'object' || value === null) return false
  const { claims, roles } = value as Partial<SignIn>
  return typeof claims === 'object' && claims !== null && Array.isArray(roles)
}

/** A text that was kept with its end before it; undefined when that is over. */
function timed(kept: string | null, now: number): { value: string; expires: number } | undefined {
  if (kept === null) return undefined
  const space = kept.indexOf(' ')
  const expires = Number(kept.slice(0, space))
  return expires > now ? { value: kept.slice(space + 1), expires } : undefined
}
